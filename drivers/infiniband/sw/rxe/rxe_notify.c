// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The calls of a consumer: its completion handler and its event handlers.
 *
 * Stage:	completion, the last
 * In:		a CQ that had been armed, or what else a consumer has to know
 * Out:		a call of the consumer
 * Context:	any to ask for it; the call is made in a softirq, of the CPU that
 *		the CQ's completion vector stands for, or for events of that
 *		which asks
 * Locks:	none; one call at a time by rxe_side.h
 * Never:	calls a consumer from one of its own calls of a verb, or under a
 *		lock of this driver (Documentation/infiniband/core_locking.rst)
 */
#include "rxe_notify.h"
#include "rxe_poll.h"
#include "rxe_side.h"

/**
 * rxe_notify_setup() - Make ready to call a consumer
 * @notify: zeroed
 * @cpu: where to call it, or RXE_NOTIFY_ANYWHERE
 * @call: how
 */
void rxe_notify_setup(struct rxe_notify *notify, int cpu,
		      void (*call)(struct rxe_notify *notify, u32 what))
{
	notify->cpu = cpu;
	notify->call = call;
}

/**
 * rxe_notify_stop() - Call the consumer no more
 * @notify: its calls
 *
 * Context: process, may sleep until a call that has begun is over.
 */
void rxe_notify_stop(struct rxe_notify *notify)
{
	rxe_side_stop(&notify->state);
	rxe_side_wait(&notify->state);
}

/**
 * rxe_notify() - Call a consumer soon
 * @notify: its calls; the caller has a reference to what they are part of
 * @what: RXE_NOTIFY_* bits
 *
 * Context: any with interrupts enabled.
 */
void rxe_notify(struct rxe_notify *notify, u32 what)
{
	if (rxe_side_kick(&notify->state, what))
		rxe_poll_add_notify(notify);
}

/**
 * rxe_notify_run() - Call a consumer
 * @notify: its calls, busy; may be gone afterwards
 *
 * Context: softirq.
 */
void rxe_notify_run(struct rxe_notify *notify)
{
	do {
		notify->call(notify, rxe_side_take(&notify->state));
	} while (!rxe_side_idle(&notify->state));
}
