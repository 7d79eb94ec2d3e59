# SPDX-License-Identifier: Apache-2.0
"""What the launch files prepare for the loop without Python."""

import xml.etree.ElementTree as ET

import pytest
import yaml
from helpers.launch_files import arguments

from opspace_ctrl.bringup import compiled
from opspace_ctrl.bringup.compiled import compiled_controllers_file, images, simulated_hardware
from opspace_ctrl.bringup.hardware import spawner_arguments
from opspace_ctrl.bringup.request import Request
from opspace_ctrl.errors import BringupError
from opspace_ctrl.export.image import Image
from opspace_ctrl.model import load_robot


@pytest.fixture(scope="module")
def request_and_folder(tmp_path_factory):
    """arm7, exported as the launch file does."""
    defaults = {name: each.default for name, each in arguments("hardware").items()}
    request = Request(defaults | {"method": "rjk"}, tmp_path_factory.mktemp("launch"))
    return request, images(request, simulated=True)


def test_library_and_both_images_are_exported(request_and_folder):
    request, folder = request_and_folder
    names = {path.name for path in folder.iterdir()}
    assert names >= {compiled.LIBRARY, compiled.IMAGE, compiled.SIMULATED}
    controller, simulated = (
        Image.unpacked((folder / name).read_bytes())
        for name in (compiled.IMAGE, compiled.SIMULATED)
    )
    assert list(controller.joints) == list(simulated.joints) == request.joints
    assert len(controller.tasks) == 1 and len(controller.ticks) == 200


def test_a_folder_that_is_given_is_used_and_what_it_lacks_is_told(request_and_folder, tmp_path):
    request, folder = request_and_folder
    given = Request({**request.given, "images": str(folder)}, tmp_path)
    assert images(given, simulated=True) == folder
    (tmp_path / compiled.LIBRARY).touch()
    empty = Request({**request.given, "images": str(tmp_path)}, tmp_path)
    with pytest.raises(
        BringupError, match=r"has no controller\.opspace; needed are libopspace\.so"
    ):
        images(empty, simulated=False)


def test_the_controllers_are_started_with_the_image(request_and_folder):
    request, folder = request_and_folder
    file = compiled_controllers_file(request, folder)
    written = {
        name: each["ros__parameters"] for name, each in yaml.safe_load(file.read_text()).items()
    }
    manager, own = written["/**/controller_manager"], written["/**/opspace_controller"]
    assert manager["update_rate"] == 1000
    assert manager["opspace_controller"] == {"type": "opspace_ctrl/OperationalSpaceController"}
    assert own == {
        "image": str(folder / compiled.IMAGE),
        "library": str(folder / compiled.LIBRARY),
        "method": "rjk",
    }
    words = spawner_arguments("left", file, compiled.STARTED)
    assert words[:4] == [
        "joint_state_broadcaster",
        "opspace_controller",
        "--controller-manager",
        "/left/controller_manager",
    ]


def test_the_description_names_the_simulated_robot_and_all_joints(request_and_folder):
    request, folder = request_and_folder
    text = simulated_hardware(request.description, request.model, folder)
    control = ET.fromstring(text).findall("ros2_control")
    assert len(control) == 1 and not control[0].findall("sensor")
    hardware = control[0].find("hardware")
    assert hardware.findtext("plugin") == "opspace_ctrl/SimulatedRobot"
    params = {each.get("name"): each.text for each in hardware.findall("param")}
    assert params == {
        "image": str(folder / compiled.SIMULATED),
        "library": str(folder / compiled.LIBRARY),
    }
    joints = [each.get("name") for each in control[0].findall("joint")]
    assert joints == list(request.model.joint_names)


def test_a_floating_base_is_a_sensor_of_the_simulated_robot(request_and_folder, tmp_path):
    request, folder = request_and_folder
    model = load_robot("free_flyer")
    text = simulated_hardware('<robot name="flyer"/>', model, folder)
    sensor = ET.fromstring(text).find("ros2_control/sensor")
    assert sensor.get("name") == compiled.BASE
    names = [each.get("name") for each in sensor.findall("state_interface")]
    assert (names[0], names[6], names[-1]) == ("position.x", "orientation.w", "angular_velocity.z")
    assert len(names) == 7 + 6
    simulated = Request({**request.given, "hardware": "simulated"}, tmp_path)
    written = yaml.safe_load(compiled_controllers_file(simulated, folder).read_text())
    own = written["/**/opspace_controller"]["ros__parameters"]
    assert own["base_source"] == "interfaces"
