/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The frames between host and guest, and the guest's end of them. qemu/wire.py
 * is the host's end: the two change together.
 *
 * A frame is a little-endian header and @len bytes:
 *   u32 len, u8 type, u32 job
 * Jobs are numbered by the host. After EXIT or STARTFAIL a number is free.
 */
#ifndef RXE_LAB_AGENT_H
#define RXE_LAB_AGENT_H

#include <stdint.h>

enum frame_type {
	/* host to guest */
	FRAME_START	= 1,	/* strings, each with its NUL: command, cwd, NAME=value... */
	FRAME_START_TTY	= 2,	/* the same, on a terminal of its own */
	FRAME_STDIN	= 3,	/* bytes; none: end of file */
	FRAME_SIGNAL	= 4,	/* u32 signal, to every process of the job's session */
	FRAME_RESIZE	= 5,	/* u16 rows, u16 columns */
	FRAME_PING	= 6,	/* answered by PONG: the guest is alive */
	FRAME_POWEROFF	= 7,
	/* guest to host */
	FRAME_HELLO	= 16,	/* kernel release */
	FRAME_STDOUT	= 17,
	FRAME_STDERR	= 18,
	FRAME_EXIT	= 19,	/* u32 wait status */
	FRAME_STARTFAIL	= 20,	/* u32 errno */
	FRAME_PONG	= 21,
	FRAME_TOOK	= 22,	/* u32 bytes read from a tty: the host sends more */
};

struct frame_header {
	uint32_t len;
	uint8_t type;
	uint32_t job;
} __attribute__((packed));

/* Longer frames are a broken stream. */
#define FRAME_MAX (1u << 20)

/* Opens the line to the host (@tty, or the virtio port) and serves it until
 * the host says POWEROFF or goes away.
 */
void agent_run(const char *tty);

/* Writes one frame, waiting until the host took it. */
void agent_send(uint8_t type, uint32_t job, const void *data, uint32_t len);

#endif
