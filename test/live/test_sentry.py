# SPDX-License-Identifier: Apache-2.0
"""The emergency stop is served while the rest of its node is busy, however long."""

import threading

import rclpy
from helpers import ros
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Bool, Empty, String
from std_srvs.srv import Trigger

from opspace_ctrl.nodes.sentry import Sentry


def test_what_could_not_be_said_of_safety_is_said_again(tmp_path, monkeypatch):
    """On a busy machine DDS may have no room for a message in time, and rclpy raises."""
    told = ["active"]
    with ros.Graph(tmp_path) as graph:
        node = rclpy.create_node("busy", context=graph.context)
        sentry = Sentry(node, str, lambda *_: None, lambda: told[-1])
        try:
            safety = graph.listen(String, "busy/safety", ros.latched())
            graph.wait_for(lambda: safety.count and safety.last.data == "active", "the first word")
            failed, publish = [], sentry._safety.publish

            def deaf(message):
                if len(failed) < 3:
                    failed.append(message.data)
                    raise RuntimeError("made by the test")
                publish(message)

            monkeypatch.setattr(sentry._safety, "publish", deaf)
            told.append("stop")
            graph.wait_for(lambda: safety.last.data == "stop", "the word that failed")
            assert failed == ["stop"] * 3
        finally:
            sentry.close()
            node.destroy_node()


def test_a_stop_is_served_before_the_message_that_the_node_is_reading(tmp_path):
    """The node's callback ends only after the stop: if the stop waited behind it, neither would ever end."""
    order, stopped, allowed = [], threading.Event(), []

    def stop():
        order.append("stop")
        stopped.set()
        return "stopped"

    with ros.Graph(tmp_path) as graph:
        node = rclpy.create_node("busy", context=graph.context)
        sentry = Sentry(
            node, stop, lambda permitted, at: allowed.append(permitted), lambda: " ".join(order)
        )

        def read(message):
            order.append("begin")
            assert stopped.wait(ros.PATIENCE)
            order.append("end")

        node.create_subscription(Empty, "long", read, 10)
        executor = SingleThreadedExecutor(context=graph.context)
        executor.add_node(node)
        ended = threading.Event()

        def spin():
            while not ended.is_set():
                executor.spin_once(timeout_sec=0.1)

        thread = threading.Thread(target=spin)
        thread.start()
        try:
            long = graph.publisher(Empty, "long")
            enable = graph.publisher(Bool, "busy/enable")
            graph.publish_until(long, Empty(), lambda: order, "the callback")
            graph.publish_until(enable, Bool(data=True), lambda: allowed, "the permission")
            safety = graph.listen(String, "busy/safety", ros.latched())
            answer = graph.call(Trigger, "busy/emergency_stop")
            assert answer.success and answer.message == "stopped"
            graph.wait_for(lambda: "end" in order, "the rest")
            assert order[:3] == ["begin", "stop", "end"] and allowed[0] is True
            graph.wait_for(lambda: safety.count and "stop" in safety.last.data, "what it tells")
        finally:
            stopped.set()
            ended.set()
            thread.join()
            sentry.close()
            executor.shutdown()
            node.destroy_node()
