/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_POSTER_H
#define RXE_POSTER_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* ns; a run that took longer was interrupted, or is worth a hop anyway */
#define RXE_POSTER_MAX_RUN	(100 * 1000U)

/* Part of the known run time that each quick return forgets */
#define RXE_POSTER_FORGET	64

/* Quick returns that make a stream, and that are remembered at most */
#define RXE_POSTER_STREAM	2U
#define RXE_POSTER_MAX_QUICK	8U

/* WQEs of a stream that wait for a batch at most */
#define RXE_POSTER_BATCH	16U

/* How long the first of them waits at most, in runs for one doorbell */
#define RXE_POSTER_WAIT		RXE_POSTER_BATCH

/**
 * struct rxe_poster - What a QP's doorbells tell about who rings them
 * @left: when the last doorbell was done with, in ns
 * @run: what a run in the poster's context takes for one doorbell, in ns
 * @sleeps: how often the poster had slept by the last doorbell
 * @quick: by how much quick returns outweigh the others
 * @burst: doorbells since the last pause
 * @usual: doorbells between the last two pauses
 *
 * Written by each doorbell without a lock: of two at a time one is forgotten,
 * and the next run is placed a little worse.
 */
struct rxe_poster {
	u64		left;
	unsigned long	sleeps;
	u32		run;
	u32		quick;
	u32		burst;
	u32		usual;
};

/**
 * rxe_poster_ran() - Note a run in the poster's context
 * @poster: the QP's
 * @n: how many doorbells it was for
 * @start: when it began, in ns
 * @end: when it ended, in ns
 *
 * A run for one doorbell takes no less than a batch does for each.
 *
 * Context: any.
 */
static inline void rxe_poster_ran(struct rxe_poster *poster, u32 n, u64 start,
				  u64 end)
{
	u32 took = min_t(u64, end - start, U32_MAX);
	u32 run = min(took / n, RXE_POSTER_MAX_RUN);

	if (n == 1 || run > READ_ONCE(poster->run))
		WRITE_ONCE(poster->run, run);
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
 * If so, nothing that it waits for can have happened: what is sent takes a run
 * to be answered, even by a QP of this host. What a run takes is forgotten bit
 * by bit with each such answer, so that in the end one is measured again: the
 * last may have been interrupted.
 *
 * Context: any.
 * Return: true if it came back before a run would have ended
 */
static inline bool rxe_poster_hurried(struct rxe_poster *poster, u64 now)
{
	u32 run = READ_ONCE(poster->run);

	if (now - READ_ONCE(poster->left) >= run)
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

/**
 * rxe_poster_counts() - Count a doorbell of a poster's burst
 * @poster: the QP's
 * @quick: whether it was quickly back; if not, a new burst begins
 *
 * Context: any.
 */
static inline void rxe_poster_counts(struct rxe_poster *poster, bool quick)
{
	if (!quick) {
		WRITE_ONCE(poster->usual, READ_ONCE(poster->burst));
		WRITE_ONCE(poster->burst, 0);
	}
	WRITE_ONCE(poster->burst, READ_ONCE(poster->burst) + 1);
}

/**
 * rxe_poster_corks() - Leave a doorbell of a stream unanswered?
 * @poster: the QP's
 * @waiting: how many WQEs wait by now
 *
 * Not if there are enough for a batch, and not if the last burst ended here: that
 * may be the last one again.
 *
 * Context: any.
 * Return: true if it may wait for the next
 */
static inline bool rxe_poster_corks(const struct rxe_poster *poster,
				    u32 waiting)
{
	return waiting < RXE_POSTER_BATCH &&
	       READ_ONCE(poster->burst) != READ_ONCE(poster->usual);
}

/**
 * rxe_poster_until() - When a doorbell has to be answered at the latest
 * @poster: the QP's
 * @now: in ns
 *
 * Return: in ns
 */
static inline u64 rxe_poster_until(const struct rxe_poster *poster, u64 now)
{
	return now + RXE_POSTER_WAIT * READ_ONCE(poster->run);
}

#endif /* RXE_POSTER_H */
