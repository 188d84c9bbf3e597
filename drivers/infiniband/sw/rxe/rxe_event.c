// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The asynchronous events of QPs and SRQs (IBTA 11.6.3).
 *
 * Stage:	completion, beside it
 * In:		RXE_NOTIFY_* bits from a run
 * Out:		a call of the event handler for each
 * Context:	softirq
 * Locks:	none
 * Never:	decides what is an event
 */
#include <rdma/ib_verbs.h>

#include "rxe.h"
#include "rxe_event.h"
#include "rxe_notify.h"
#include "rxe_trace.h"

static void call_qp(struct rxe_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device		= qp->ibqp.device,
		.element.qp	= &qp->ibqp,
		.event		= type,
	};

	trace_rxe_event(qp, type);
	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/**
 * rxe_event_call_qp() - Tell a QP's consumer
 * @notify: the QP's
 * @what: RXE_NOTIFY_* bits of QPs
 *
 * Context: softirq.
 */
void rxe_event_call_qp(struct rxe_notify *notify, u32 what)
{
	struct rxe_qp *qp = container_of(notify, struct rxe_qp, events);

	if (what & RXE_NOTIFY_SQ_DRAINED)
		call_qp(qp, IB_EVENT_SQ_DRAINED);
	if (what & RXE_NOTIFY_ACCESS_ERR)
		call_qp(qp, IB_EVENT_QP_ACCESS_ERR);
	if (what & RXE_NOTIFY_LAST_WQE)
		call_qp(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/**
 * rxe_event_call_srq() - Tell an SRQ's consumer
 * @notify: the SRQ's
 * @what: RXE_NOTIFY_SRQ_LIMIT
 *
 * Context: softirq.
 */
void rxe_event_call_srq(struct rxe_notify *notify, u32 what)
{
	struct rxe_srq *srq = container_of(notify, struct rxe_srq, events);
	struct ib_event event = {
		.device		= srq->ibsrq.device,
		.element.srq	= &srq->ibsrq,
		.event		= IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}
