/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One side of a QP, sender or receiver, and the word that says who runs it.
 *
 * Stage:	between whoever has work for a side and the one who runs it
 * In:		kicks, each with its reason
 * Out:		at most one runner at a time, and no kick unheard
 * Context:	any, interrupts included
 * Locks:	none; each transition is one atomic operation
 * Never:	touches the QP
 */
#ifndef RXE_SIDE_H
#define RXE_SIDE_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/llist.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

struct rxe_qp;

/* Why a side has to run; any number of them at a time */
#define RXE_KICK_POST	BIT(0)	/* a doorbell */
#define RXE_KICK_RX	BIT(1)	/* a packet from the network */
#define RXE_KICK_LOOP	BIT(2)	/* a packet from a QP of this device */
#define RXE_KICK_TIMER	BIT(3)	/* a timeout */
#define RXE_KICK_ROOM	BIT(4)	/* the host has room for more packets */
#define RXE_KICK_STATE	BIT(5)	/* the QP has changed its state */
#define RXE_KICK_MORE	BIT(6)	/* the last run has used up its budget */
#define RXE_KICKS	GENMASK(6, 0)

#define RXE_SIDE_BUSY	BIT(16)	/* runs, or is about to */
#define RXE_SIDE_STOP	BIT(17)	/* must not run */
#define RXE_SIDE_WAITS	BIT(18)	/* for a worker; who clears it runs the side */

/**
 * struct rxe_side_work - A run in process context
 * @work: while it runs, or the softirqs that it has raised do, it cannot begin
 *	again; another one can, on another CPU
 * @side: the side that runs
 */
struct rxe_side_work {
	struct work_struct	work;
	struct rxe_side		*side;
};

/**
 * struct rxe_side - One side of a QP
 * @state: reasons, and RXE_SIDE_* bits
 * @qp: the QP
 * @pass: one pass; 0 if another one may find something to do
 * @rest: after the last pass of a run, to let go of what the passes share
 * @node: in the list of the CPU that will run it
 * @works: for runs in process context, in turn
 * @turn: which of them is next; for whoever has the side run
 *
 * Whoever sets RXE_SIDE_BUSY sees to it that the side runs: at once, or by one
 * of @node and @works. So each is in one queue at most, and while it is busy
 * the QP stays: rxe_side_stop() and rxe_side_wait() precede its end. One of
 * @works may be on its way in vain when another has run the side; rxe_run_end()
 * waits for that.
 */
struct rxe_side {
	atomic_t		state;
	struct rxe_qp		*qp;
	int			(*pass)(struct rxe_qp *qp);
	void			(*rest)(struct rxe_qp *qp);
	struct llist_node	node;
	struct rxe_side_work	works[2];
	unsigned int		turn;
};

/**
 * rxe_side_kick() - Say that a side has work
 * @state: the side's state
 * @why: RXE_KICK_* bits
 *
 * What the caller wrote before is seen by the passes after this.
 *
 * Return: true if the caller has to see to a run
 */
static inline bool rxe_side_kick(atomic_t *state, u32 why)
{
	int old = atomic_read(state);
	int new;

	do {
		new = old | why;
		if (!(old & RXE_SIDE_STOP))
			new |= RXE_SIDE_BUSY;
	} while (!atomic_try_cmpxchg(state, &old, new));

	return !(old & (RXE_SIDE_BUSY | RXE_SIDE_STOP));
}

/**
 * rxe_side_take() - Begin a run
 * @state: the side's state, busy
 *
 * Return: why it has to run; a kick from now on asks for another pass
 */
static inline u32 rxe_side_take(atomic_t *state)
{
	return atomic_fetch_andnot(RXE_KICKS, state) & RXE_KICKS;
}

/**
 * rxe_side_lend() - Let a worker run the side, or whoever comes first
 * @state: the side's state, busy; the caller would have to see to the run
 *
 * The worker is to be called afterwards.
 */
static inline void rxe_side_lend(atomic_t *state)
{
	atomic_fetch_or_release(RXE_SIDE_WAITS, state);
}

/* Who asks may be wrong a moment later */
static inline bool rxe_side_waits(const atomic_t *state)
{
	return atomic_read(state) & RXE_SIDE_WAITS;
}

/**
 * rxe_side_claim() - Run a side that was lent, instead of others
 * @state: the side's state
 *
 * Return: true if the caller has to see to the run
 */
static inline bool rxe_side_claim(atomic_t *state)
{
	return rxe_side_waits(state) &&
	       atomic_fetch_andnot(RXE_SIDE_WAITS, state) & RXE_SIDE_WAITS;
}

/**
 * rxe_side_idle() - End a run that has nothing left to do
 * @state: the side's state, busy
 *
 * Return: false if the side was kicked meanwhile and the run goes on. After
 * true the QP may vanish at any time.
 */
static inline bool rxe_side_idle(atomic_t *state)
{
	int old = atomic_read(state);

	do {
		if (!(old & RXE_SIDE_STOP) && old & RXE_KICKS)
			return false;
	} while (!atomic_try_cmpxchg(state, &old, old & ~RXE_SIDE_BUSY));

	if (old & RXE_SIDE_STOP)
		wake_up_var(state);
	return true;
}

/**
 * rxe_side_yield() - End a run whose budget is used up
 * @state: the side's state, busy
 *
 * Return: true if the caller has to see to the next run; if not, the side must
 * stop, and the QP may vanish at any time.
 */
static inline bool rxe_side_yield(atomic_t *state)
{
	int old = atomic_read(state);
	int new;

	do {
		new = old | RXE_KICK_MORE;
		if (old & RXE_SIDE_STOP)
			new &= ~RXE_SIDE_BUSY;
	} while (!atomic_try_cmpxchg(state, &old, new));

	if (old & RXE_SIDE_STOP)
		wake_up_var(state);
	return new & RXE_SIDE_BUSY;
}

/**
 * rxe_side_stop() - Let no run begin any more
 * @state: the side's state
 *
 * A run that waits for its turn or has begun goes on; see rxe_side_wait().
 */
static inline void rxe_side_stop(atomic_t *state)
{
	atomic_or(RXE_SIDE_STOP, state);
}

static inline bool rxe_side_busy(const atomic_t *state)
{
	return atomic_read_acquire(state) & RXE_SIDE_BUSY;
}

/**
 * rxe_side_wait() - Wait for the end of the last run
 * @state: the side's state, stopped
 *
 * Context: process, may sleep.
 */
static inline void rxe_side_wait(atomic_t *state)
{
	wait_var_event(state, !rxe_side_busy(state));
}

/**
 * rxe_side_start() - Undo rxe_side_stop()
 * @state: the side's state; it runs no more
 *
 * Return: true if the side was kicked meanwhile and the caller has to see to a
 * run
 */
static inline bool rxe_side_start(atomic_t *state)
{
	int old = atomic_read(state);
	int new;

	do {
		new = old & ~RXE_SIDE_STOP;
		if (new & RXE_KICKS)
			new |= RXE_SIDE_BUSY;
	} while (!atomic_try_cmpxchg(state, &old, new));

	return new & ~old & RXE_SIDE_BUSY;
}

#endif /* RXE_SIDE_H */
