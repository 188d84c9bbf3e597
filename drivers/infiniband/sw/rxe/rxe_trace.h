/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One event per stage that a message passes, in the order it passes them:
 *
 *	rxe_post -> rxe_run -> rxe_tx -> rxe_unit  ~ network ~  rxe_rx
 *	-> rxe_run -> rxe_resp -> rxe_tx -> rxe_unit  ~ network ~  rxe_rx
 *	-> rxe_run -> rxe_comp -> rxe_cqe -> rxe_notify
 *
 * Every event but rxe_cqe and rxe_notify, which have the CQ's, has the local QP
 * number, so one filter follows a QP through all of them. Numbers are in host byte
 * order, PSNs are 24 bits wide, lengths are bytes.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rxe

#if !defined(RXE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RXE_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

#include "rxe.h"
#include "rxe_inflight.h"
#include "rxe_notify.h"
#include "rxe_queue.h"
#include "rxe_sq.h"

/* A doorbell: @pending WQEs wait in the SQ that the requester has not begun */
TRACE_EVENT(rxe_post,
	TP_PROTO(const struct rxe_qp *qp),
	TP_ARGS(qp),

	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->ibqp.device->dev))
		__field(u32, qpn)
		__field(u32, pending)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->pending = rxe_sq_pending(qp);
	),

	TP_printk("dev=%s qpn=%u pending=%u", __get_str(dev), __entry->qpn,
		  __entry->pending)
);

/*
 * A side of a QP has run for the reasons @why and made @passes of a @budget; a
 * run that used it up may have left work behind for the next. If it was kicked
 * meanwhile it goes on and adds to its passes.
 */
TRACE_EVENT(rxe_run,
	TP_PROTO(const struct rxe_side *side, u32 why, u32 passes, u32 budget),
	TP_ARGS(side, why, passes, budget),

	TP_STRUCT__entry(
		__string(dev, dev_name(&side->qp->ibqp.device->dev))
		__field(u32, qpn)
		__field(u32, why)
		__field(u32, passes)
		__field(u32, budget)
		__field(bool, recv)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = side->qp->ibqp.qp_num;
		__entry->why = why;
		__entry->passes = passes;
		__entry->budget = budget;
		__entry->recv = side == &side->qp->recv_side;
	),

	TP_printk("dev=%s qpn=%u side=%s why=%s passes=%u budget=%u",
		  __get_str(dev), __entry->qpn,
		  __entry->recv ? "recv" : "send",
		  __print_flags(__entry->why, "|",
				{ RXE_KICK_POST,	"post" },
				{ RXE_KICK_RX,		"rx" },
				{ RXE_KICK_LOOP,	"loop" },
				{ RXE_KICK_TIMER,	"timer" },
				{ RXE_KICK_ROOM,	"room" },
				{ RXE_KICK_STATE,	"state" },
				{ RXE_KICK_MORE,	"more" }),
		  __entry->passes, __entry->budget)
);

/* A packet as it is on the wire: @paylen counts BTH to ICRC */
DECLARE_EVENT_CLASS(rxe_packet,
	TP_PROTO(const struct rxe_qp *qp, struct rxe_pkt_info *pkt),
	TP_ARGS(qp, pkt),

	TP_STRUCT__entry(
		__string(dev, dev_name(&pkt->rxe->ib_dev.dev))
		__field(u32, qpn)
		__field(u32, dqpn)
		__field(u32, psn)
		__field(u16, paylen)
		__field(u8, opcode)
		__field(bool, ack_req)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qp ? qp->ibqp.qp_num : 0;
		__entry->dqpn = bth_qpn(pkt);
		__entry->psn = pkt->psn;
		__entry->paylen = pkt->paylen;
		__entry->opcode = pkt->opcode;
		__entry->ack_req = bth_ack(pkt);
	),

	TP_printk("dev=%s qpn=%u dqpn=%u psn=%u opcode=0x%02x paylen=%u ack_req=%d",
		  __get_str(dev), __entry->qpn, __entry->dqpn, __entry->psn,
		  __entry->opcode, __entry->paylen, __entry->ack_req)
);

/* Ready to go to the IP stack, or handed to the other side of a loopback */
DEFINE_EVENT(rxe_packet, rxe_tx,
	TP_PROTO(const struct rxe_qp *qp, struct rxe_pkt_info *pkt),
	TP_ARGS(qp, pkt)
);

/* @packets that leave together, of @bytes from the IP header to the ICRC */
TRACE_EVENT(rxe_unit,
	TP_PROTO(const struct rxe_qp *qp, const struct rxe_tx *tx),
	TP_ARGS(qp, tx),

	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->ibqp.device->dev))
		__field(u32, qpn)
		__field(u32, packets)
		__field(u32, bytes)
		__field(bool, recv)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->packets = tx->count;
		__entry->bytes = tx->bytes;
		__entry->recv = tx == &qp->resp.tx;
	),

	TP_printk("dev=%s qpn=%u side=%s packets=%u bytes=%u", __get_str(dev),
		  __entry->qpn, __entry->recv ? "recv" : "send",
		  __entry->packets, __entry->bytes)
);

/* What the stack holds of the QP's packets, one just handed to it included */
TRACE_EVENT(rxe_inflight,
	TP_PROTO(const struct rxe_qp *qp),
	TP_ARGS(qp),

	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->ibqp.device->dev))
		__field(u32, qpn)
		__field(u32, bytes)
		__field(u32, limit)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->bytes = rxe_inflight_bytes(qp);
		__entry->limit = rxe_inflight_limit(qp);
	),

	TP_printk("dev=%s qpn=%u bytes=%u limit=%u", __get_str(dev),
		  __entry->qpn, __entry->bytes, __entry->limit)
);

/* Arrived with a good ICRC; a multicast packet has no QP yet (qpn=0) */
DEFINE_EVENT(rxe_packet, rxe_rx,
	TP_PROTO(const struct rxe_qp *qp, struct rxe_pkt_info *pkt),
	TP_ARGS(qp, pkt)
);

/* The responder answers @psn: @syndrome is the AETH's first byte */
TRACE_EVENT(rxe_resp,
	TP_PROTO(const struct rxe_qp *qp, u32 psn, u8 syndrome),
	TP_ARGS(qp, psn, syndrome),

	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->ibqp.device->dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, msn)
		__field(u8, syndrome)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->psn = psn;
		__entry->msn = qp->resp.msn;
		__entry->syndrome = syndrome;
	),

	TP_printk("dev=%s qpn=%u psn=%u msn=%u syndrome=0x%02x",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->msn,
		  __entry->syndrome)
);

/* What may be un-ACKed has been reconsidered, after a flight or a loss */
TRACE_EVENT(rxe_window,
	TP_PROTO(const struct rxe_qp *qp),
	TP_ARGS(qp),

	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->ibqp.device->dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, size)
		__field(u32, quick)
		__field(u32, rtt_min)
		__field(bool, cut)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->psn = qp->comp.psn;
		__entry->size = qp->req.window.size;
		__entry->quick = qp->req.window.quick;
		__entry->rtt_min = jiffies_to_msecs(qp->req.window.rtt_min);
		__entry->cut = qp->req.window.cut;
	),

	TP_printk("dev=%s qpn=%u psn=%u size=%u quick=%u rtt_min=%ums cut=%d",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->size,
		  __entry->quick, __entry->rtt_min, __entry->cut)
);

/* A send WQE is finished, with or without a CQE; not when it is flushed */
TRACE_EVENT(rxe_comp,
	TP_PROTO(const struct rxe_qp *qp, const struct rxe_send_wqe *wqe),
	TP_ARGS(qp, wqe),

	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->ibqp.device->dev))
		__field(u64, wr_id)
		__field(u32, qpn)
		__field(u32, first_psn)
		__field(u32, last_psn)
		__field(u32, opcode)
		__field(u32, status)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->wr_id = wqe->wr.wr_id;
		__entry->qpn = qp->ibqp.qp_num;
		__entry->first_psn = wqe->first_psn;
		__entry->last_psn = wqe->last_psn;
		__entry->opcode = wqe->wr.opcode;
		__entry->status = wqe->status;
	),

	TP_printk("dev=%s qpn=%u wr_id=0x%llx opcode=%u status=%u psn=%u..%u",
		  __get_str(dev), __entry->qpn, __entry->wr_id,
		  __entry->opcode, __entry->status,
		  __entry->first_psn, __entry->last_psn)
);

/* @count CQEs were written; @armed: the consumer is about to be told */
TRACE_EVENT(rxe_cqe,
	TP_PROTO(const struct rxe_cq *cq, u32 count, bool solicited),
	TP_ARGS(cq, count, solicited),

	TP_STRUCT__entry(
		__string(dev, dev_name(&cq->ibcq.device->dev))
		__field(u32, cqn)
		__field(u32, count)
		__field(u32, pending)
		__field(bool, solicited)
		__field(bool, armed)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->cqn = cq->elem.index;
		__entry->count = count;
		__entry->pending = queue_count(cq->queue,
					       QUEUE_TYPE_TO_CLIENT);
		__entry->solicited = solicited;
		__entry->armed = cq->notify & IB_CQ_NEXT_COMP ||
				 (cq->notify & IB_CQ_SOLICITED && solicited);
	),

	TP_printk("dev=%s cqn=%u count=%u pending=%u solicited=%d armed=%d",
		  __get_str(dev), __entry->cqn, __entry->count,
		  __entry->pending, __entry->solicited, __entry->armed)
);

/* A CQ's consumer is called */
TRACE_EVENT(rxe_notify,
	TP_PROTO(const struct rxe_cq *cq, u32 what),
	TP_ARGS(cq, what),

	TP_STRUCT__entry(
		__string(dev, dev_name(&cq->ibcq.device->dev))
		__field(u32, cqn)
		__field(u32, what)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->cqn = cq->elem.index;
		__entry->what = what;
	),

	TP_printk("dev=%s cqn=%u what=%s", __get_str(dev), __entry->cqn,
		  __print_flags(__entry->what, "|",
				{ RXE_NOTIFY_COMP,	"comp" },
				{ RXE_NOTIFY_OVERFLOW,	"overflow" }))
);

/* A QP's consumer is told of an event */
TRACE_DEFINE_ENUM(IB_EVENT_SQ_DRAINED);
TRACE_DEFINE_ENUM(IB_EVENT_QP_ACCESS_ERR);
TRACE_DEFINE_ENUM(IB_EVENT_QP_LAST_WQE_REACHED);

TRACE_EVENT(rxe_event,
	TP_PROTO(const struct rxe_qp *qp, u32 type),
	TP_ARGS(qp, type),

	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->ibqp.device->dev))
		__field(u32, qpn)
		__field(u32, type)
	),

	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->type = type;
	),

	TP_printk("dev=%s qpn=%u %s", __get_str(dev), __entry->qpn,
		  __print_symbolic(__entry->type,
			{ IB_EVENT_SQ_DRAINED,		"sq_drained" },
			{ IB_EVENT_QP_ACCESS_ERR,	"access_err" },
			{ IB_EVENT_QP_LAST_WQE_REACHED,	"last_wqe" }))
);

#endif /* RXE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE rxe_trace

#include <trace/define_trace.h>
