/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The jobs of the agent: commands run for the host, each a session of its own.
 */
#ifndef RXE_LAB_JOB_H
#define RXE_LAB_JOB_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts the command of a START frame; reports STARTFAIL itself. */
void job_start(uint32_t id, char *data, size_t len, bool tty);

/* Queues input for a job; no bytes close its standard input. */
void job_input(uint32_t id, const void *data, size_t len);

/* Sends @sig to every process of the job's session. */
void job_signal(uint32_t id, int sig);

/* Sets the size of a job's terminal. */
void job_resize(uint32_t id, unsigned int rows, unsigned int columns);

/* Collects the dead: a job that ended has its last output sent, then EXIT. */
void jobs_reap(void);

/* Fills @fds (at most @max) with what the jobs wait for; returns how many. */
size_t jobs_poll_fill(struct pollfd *fds, size_t max);

/* Moves the data of the descriptors that poll() found ready. */
void jobs_poll_handle(const struct pollfd *fds, size_t count);

#endif
