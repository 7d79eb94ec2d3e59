# SPDX-License-Identifier: Apache-2.0
"""A first configuration for a robot that nobody has configured: what `opspace init` writes, guess by guess.

    passive    which joints are not for the controller: fingers, wheels, joints without drives
    limbs      the limbs of the tree, what each is for, and the frame that a task moves
    shapes     points of collision shapes           soles      the part of a foot that stands on the ground
    reach      a start pose away from singularities  standing   one in which the robot stands
    gains      stiffness, speeds and clips from inertia, effort and velocity limits and the rate of the loop
    propose    all of them, in order                result     what comes of it
    trial      it at work in the simulator, with delay
    files      the same as commented parameter files

Every guess leaves a note that says what was guessed and why.
"""
