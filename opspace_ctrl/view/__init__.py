# SPDX-License-Identifier: Apache-2.0
"""The controller in a browser: a page that shows a robot, moves it and plots what it does (`opspace view`).

The loop runs in a process of its own (`loop`, `process`) and writes what it does into memory that the page's process
reads (`rows`). Everything that is drawn comes from such rows, whether they are live, recorded or from a ROS graph
(`source`). A leaf: nothing in the control path imports it. It needs the extra `view`.
"""
