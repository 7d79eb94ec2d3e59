# SPDX-License-Identifier: Apache-2.0
"""Two descriptions of one robot disagree: which link is it? One mass of the shipped arm is changed, and found."""

from opspace_ctrl import load_robot, load_urdf
from opspace_ctrl.parity.compare import Difference, compare_models


def main() -> list[Difference]:
    """What differs, the worst first."""
    good = load_robot("arm7")
    text = good.source
    begin = text.index("<mass", text.index('<link name="link5"'))
    end = text.index("/>", begin)
    wrong = load_urdf(text[:begin] + '<mass value="9.9"' + text[end:])
    differences = compare_models(good, wrong)
    for each in differences[:4]:
        print(f"{each.subject}: {each.text}")
    return differences


if __name__ == "__main__":
    main()
