/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_POSTER_H
#define RXE_POSTER_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* ns; a run that took longer was interrupted, or is worth a hop anyway */
#define RXE_POSTER_MAX_RUN	(100 * 1000)

/* Part of the known run time that each quick return forgets */
#define RXE_POSTER_FORGET	64

/* Quick returns that make a stream, and that are remembered at most */
#define RXE_POSTER_STREAM	2U
#define RXE_POSTER_MAX_QUICK	8U

/**
 * struct rxe_poster - What a QP's doorbells tell about who rings them
 * @left: when the last doorbell was done with, in ns
 * @run: what the last run in the poster's context took, in ns
 * @sleeps: how often the poster had slept by the last doorbell
 * @quick: by how much quick returns outweigh the others
 *
 * Written by each doorbell without a lock: of two at a time one is forgotten,
 * and the next run is placed a little worse.
 */
struct rxe_poster {
	u64		left;
	unsigned long	sleeps;
	u32		run;
	u32		quick;
};

/**
 * rxe_poster_ran() - Note a run in the poster's context
 * @poster: the QP's
 * @start: when it began, in ns
 * @end: when it ended, in ns
 *
 * Context: any.
 */
static inline void rxe_poster_ran(struct rxe_poster *poster, u64 start, u64 end)
{
	WRITE_ONCE(poster->run, min_t(u64, end - start, RXE_POSTER_MAX_RUN));
}

/**
 * rxe_poster_left() - Note the end of a doorbell
 * @poster: the QP's
 * @now: in ns
 *
 * Context: any.
 */
static inline void rxe_poster_left(struct rxe_poster *poster, u64 now)
{
	WRITE_ONCE(poster->left, now);
}

/**
 * rxe_poster_hurried() - Is the poster back sooner than a run takes?
 * @poster: the QP's
 * @now: in ns
 *
 * If so, it and another CPU could each have half of the work. What a run takes
 * is forgotten bit by bit with each such answer, so that in the end one is
 * measured again: the last may have been interrupted.
 *
 * Context: any.
 * Return: true if it came back within half a run
 */
static inline bool rxe_poster_hurried(struct rxe_poster *poster, u64 now)
{
	u32 run = READ_ONCE(poster->run);

	if (now - READ_ONCE(poster->left) >= run / 2)
		return false;

	WRITE_ONCE(poster->run, run - run / RXE_POSTER_FORGET);
	return true;
}

/**
 * rxe_poster_awake() - Is the poster back without having slept?
 * @poster: the QP's
 * @sleeps: how often it has slept so far, ever
 *
 * Context: any.
 * Return: true if it has not slept since the last doorbell
 */
static inline bool rxe_poster_awake(struct rxe_poster *poster,
				    unsigned long sleeps)
{
	bool awake = READ_ONCE(poster->sleeps) == sleeps;

	WRITE_ONCE(poster->sleeps, sleeps);
	return awake;
}

/**
 * rxe_poster_streams() - Does the poster post on and on?
 * @poster: the QP's
 * @quick: whether it was quickly back this time
 *
 * A single pause, as between two batches, changes nothing yet.
 *
 * Context: any.
 * Return: true if most of the last returns were quick ones
 */
static inline bool rxe_poster_streams(struct rxe_poster *poster, bool quick)
{
	u32 n = READ_ONCE(poster->quick);

	n = quick ? min(n + 1, RXE_POSTER_MAX_QUICK) : n / 2;
	WRITE_ONCE(poster->quick, n);

	return n >= RXE_POSTER_STREAM;
}

#endif /* RXE_POSTER_H */
