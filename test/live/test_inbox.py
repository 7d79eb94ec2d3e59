# SPDX-License-Identifier: Apache-2.0
"""What anybody may send: long messages come without their bytes, and a flood leaves the newest ones."""

import rclpy
from helpers import ros
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String, UInt32

from opspace_ctrl.nodes import qos
from opspace_ctrl.nodes.inbox import Inbox

MOST = 1000


class Reader:
    """A node with an inbox, which delivers when it is asked to."""

    def __init__(self, graph, message_type, topic):
        self.node, self.letters = rclpy.create_node("reader", context=graph.context), []
        self.inbox = Inbox(self.node)
        self.inbox.subscribe(
            message_type, topic, lambda *letter: self.letters.append(letter), qos.TARGETS, MOST
        )
        self.inbox.start()
        self._executor = SingleThreadedExecutor(context=graph.context)
        self._executor.add_node(self.node)

    def deliver(self):
        self._executor.spin_once(timeout_sec=0.01)

    def close(self):
        self.inbox.close()
        self._executor.shutdown()
        self.node.destroy_node()


def test_a_message_that_is_too_long_comes_as_its_length_and_the_next_one_whole(tmp_path):
    with ros.Graph(tmp_path) as graph:
        reader = Reader(graph, String, "text")
        try:
            outlet = graph.publisher(String, "text")
            for length in (10, 10_000_000, 900, 1001):
                text = "x" * length
                seen = len(reader.letters)

                def is_there(seen=seen):
                    reader.deliver()
                    return len(reader.letters) > seen

                graph.publish_until(outlet, String(data=text), is_there, "the message")
                data, size = reader.letters[-1]
                whole = 4 + 4 + length + 1  # header, count, text, its end; padded by some senders
                assert whole <= size < whole + 4
                assert text.encode() in data if size <= MOST else data == b""
        finally:
            reader.close()


def test_of_a_flood_the_newest_messages_come_in_their_order(tmp_path):
    """Nobody delivers while they are sent: what is older than the middleware keeps is lost, and never the last."""
    with ros.Graph(tmp_path) as graph:
        reader = Reader(graph, UInt32, "number")
        try:
            outlet = graph.publisher(UInt32, "number")

            def is_heard():
                reader.deliver()
                return bool(reader.letters)

            graph.publish_until(outlet, UInt32(data=0), is_heard, "the first")
            for number in range(1, 1001):
                outlet.publish(UInt32(data=number))

            def has_ended():
                reader.deliver()
                return numbers() and numbers()[-1] == 1000

            def numbers():
                return [int.from_bytes(data[4:8], "little") for data, _ in reader.letters]

            graph.wait_for(has_ended, "the last")
            flood = [number for number in numbers() if number]
            assert flood == sorted(set(flood))
        finally:
            reader.close()
