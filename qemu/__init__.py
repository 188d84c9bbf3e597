# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The guests: their image, the machines that run it, and tests on them.

    packages, image     what is on a guest's two disks
    accel, argv, uml    how a guest is started
    procs, wire, machine  what runs it and talks to the agent in it
    topology, lab       two hosts with a wire between them
    splat               what the kernel says when something is wrong
"""
