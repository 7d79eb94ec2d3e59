# SPDX-License-Identifier: Apache-2.0
"""Robots as the counted RJK wants them: screws between links, inertias in link axes."""

from __future__ import annotations

import numpy as np

from opspace_ctrl.algebra.counts import rjk_counted
from opspace_ctrl.algebra.counts.link_frames import three_screws
from opspace_ctrl.dynamics import frame_pose
from opspace_ctrl.model import JointType
from opspace_ctrl.model.joints import planar_axes
from opspace_ctrl.osim.need import need_table


def skew(p):
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def spatial_inertia(mass, com, inertia):
    """M (6, 6), angular first, from the inertia about the centre of mass."""
    c = skew(com)
    return np.block([[inertia - mass * c @ c, mass * c], [-mass * c, mass * np.eye(3)]])


def counted_inputs(model, q):
    """Poses of the links, screws between them, inertias and tips, as the counted recursion wants them."""
    # Link frames are the body frames, turned so that the joint axis is z.
    turn = [
        planar_axes(axis) if kind == JointType.REVOLUTE else np.eye(3)
        for axis, kind in zip(model.axis, model.joint_type)
    ]
    poses = [link_pose(model, q, body, Q) for body, Q in zip(model.body_names, turn)]
    links = [
        None if p < 0 else three_screws(poses[p][0].T @ R, poses[p][0].T @ (x - poses[p][1]))
        for p, (R, x) in zip(model.parent, poses)
    ]
    M = np.array(
        [
            spatial_inertia(m, Q.T @ c, Q.T @ inertia @ Q)
            for m, c, inertia, Q in zip(model.mass, model.com, model.inertia, turn)
        ]
    )
    tips = [i for i in range(len(model.parent)) if not model.children(i)]
    return poses, links, M, tips


def link_pose(model, q, body, Q):
    """Rotation and origin of a turned body frame in the world."""
    position, (x, y, z, w) = frame_pose(model, q, body)
    v = skew([x, y, z])
    return (np.eye(3) + 2.0 * w * v + 2.0 * v @ v) @ Q, position


def in_link_axes(jacobian, R):
    """Linear first in world axes -> angular first in link axes."""
    return np.vstack([R.T @ jacobian[3:], R.T @ jacobian[:3]])


def counted_lambda_inverse(parent, links, M, task_bodies, floating=False):
    """Lambda^-1 = B^T Omega B (6k, 6k) for the spatial velocities of k bodies, each in its link coordinates.

    Args:
        parent: lambda (N,).
        links: transforms phi_i.
        M: spatial inertias (N, 6, 6).
        task_bodies: k body indices.
        floating: the roots move freely (Omega_ii = P_i^-1); otherwise they too are revolute.
    """
    d_inv, tau, P = rjk_counted.articulated(parent, links, M)
    roots = np.zeros_like(P)
    for i in np.flatnonzero(np.asarray(parent) < 0):
        roots[i] = np.linalg.inv(P[i]) if floating else rjk_counted.add_d_inv(roots[i], d_inv[i])
    Omega = rjk_counted.omega(parent, links, need_table(parent, task_bodies), roots, d_inv, tau)
    return np.block([[Omega[i, j] for j in task_bodies] for i in task_bodies])
