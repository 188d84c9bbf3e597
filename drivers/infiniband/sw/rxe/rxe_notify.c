// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The calls of a CQ's consumer: its completion handler and its event handler.
 *
 * Stage:	completion, the last
 * In:		a CQ that had been armed, or has overflowed
 * Out:		a call of the consumer
 * Context:	any to ask for it; the call is made in a softirq of the CPU that
 *		the CQ's completion vector stands for
 * Locks:	none; one call of a CQ's consumer at a time by rxe_side.h
 * Never:	calls a consumer from one of its own calls of a verb, or under a
 *		lock of this driver (Documentation/infiniband/core_locking.rst)
 */
#include <linux/cpumask.h>

#include "rxe.h"
#include "rxe_notify.h"
#include "rxe_poll.h"
#include "rxe_side.h"
#include "rxe_trace.h"

/**
 * rxe_notify_setup() - Make a CQ ready to call its consumer
 * @cq: the CQ, zeroed
 * @comp_vector: the completion vector, the n-th possible CPU
 */
void rxe_notify_setup(struct rxe_cq *cq, unsigned int comp_vector)
{
	cq->cpu = cpumask_nth(comp_vector % num_possible_cpus(),
			      cpu_possible_mask);
}

/**
 * rxe_notify_stop() - Call the consumer no more
 * @cq: the CQ
 *
 * Context: process, may sleep until a call that has begun is over.
 */
void rxe_notify_stop(struct rxe_cq *cq)
{
	rxe_side_stop(&cq->state);
	rxe_side_wait(&cq->state);
}

/**
 * rxe_notify_cq() - Call a CQ's consumer soon
 * @cq: the CQ; the caller has a reference
 * @what: RXE_NOTIFY_* bits
 *
 * Context: any with interrupts enabled.
 */
void rxe_notify_cq(struct rxe_cq *cq, u32 what)
{
	if (rxe_side_kick(&cq->state, what))
		rxe_poll_add_cq(cq, cq->cpu);
}

static void call_event_handler(struct rxe_cq *cq)
{
	struct ib_event event = {
		.device		= cq->ibcq.device,
		.element.cq	= &cq->ibcq,
		.event		= IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

/**
 * rxe_notify_run() - Call a CQ's consumer
 * @cq: the CQ, busy; may be gone afterwards
 *
 * Context: softirq.
 */
void rxe_notify_run(struct rxe_cq *cq)
{
	u32 what;

	do {
		what = rxe_side_take(&cq->state);
		trace_rxe_notify(cq, what);
		if (what & RXE_NOTIFY_OVERFLOW)
			call_event_handler(cq);
		if (what & RXE_NOTIFY_COMP && cq->ibcq.comp_handler)
			cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	} while (!rxe_side_idle(&cq->state));
}
