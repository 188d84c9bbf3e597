/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The packets that have arrived for a side of a QP.
 *
 * Stage:	rx, between the check of a packet and the side's passes
 * In:		packets, those that arrived together at once, from any CPU
 * Out:		the same, in order
 * Context:	bottom halves disabled to add; the rest is for the side's run, or
 *		while it is stopped
 * Locks:	that of the queue of arrived packets, once per batch to take
 * Never:	drops a packet that it was given
 */
#ifndef RXE_INBOX_H
#define RXE_INBOX_H

#include <linux/preempt.h>
#include <linux/skbuff.h>

/**
 * struct rxe_inbox - Packets for a side of a QP
 * @arrived: by its lock, from whoever received them
 * @taken: all that had arrived when the side last looked; has no lock
 */
struct rxe_inbox {
	struct sk_buff_head	arrived;
	struct sk_buff_head	taken;
};

static inline void rxe_inbox_init(struct rxe_inbox *inbox)
{
	skb_queue_head_init(&inbox->arrived);
	__skb_queue_head_init(&inbox->taken);
}

/**
 * rxe_inbox_add() - Add packets
 * @inbox: a side's
 * @skbs: the packets, whose lock nobody needs; empty afterwards
 */
static inline void rxe_inbox_add(struct rxe_inbox *inbox,
				 struct sk_buff_head *skbs)
{
	spin_lock(&inbox->arrived.lock);
	skb_queue_splice_tail_init(skbs, &inbox->arrived);
	spin_unlock(&inbox->arrived.lock);
}

/**
 * rxe_inbox_empty() - Has a side no packets?
 * @inbox: the side's
 *
 * Without a lock: a packet may arrive at the same time. Who adds one kicks the
 * side afterwards, and then it is seen.
 */
static inline bool rxe_inbox_empty(const struct rxe_inbox *inbox)
{
	return skb_queue_empty(&inbox->taken) &&
	       skb_queue_empty_lockless(&inbox->arrived);
}

/**
 * rxe_inbox_peek() - Look at the next packet
 * @inbox: the side's
 *
 * Return: the packet, still in the inbox, or NULL
 */
static inline struct sk_buff *rxe_inbox_peek(struct rxe_inbox *inbox)
{
	struct sk_buff_head *arrived = &inbox->arrived;

	if (skb_queue_empty(&inbox->taken) &&
	    !skb_queue_empty_lockless(arrived)) {
		spin_lock_bh(&arrived->lock);
		skb_queue_splice_tail_init(arrived, &inbox->taken);
		spin_unlock_bh(&arrived->lock);
	}

	return skb_peek(&inbox->taken);
}

/**
 * rxe_inbox_take() - Take the next packet
 * @inbox: the side's
 *
 * Return: the packet or NULL
 */
static inline struct sk_buff *rxe_inbox_take(struct rxe_inbox *inbox)
{
	struct sk_buff *skb = rxe_inbox_peek(inbox);

	if (skb)
		__skb_unlink(skb, &inbox->taken);
	return skb;
}

/**
 * rxe_inbox_done() - Free a packet that the side is done with
 * @skb: the packet, of rxe_inbox_take(), or NULL
 *
 * The next packet that the CPU of its allocation makes has the same skb. But that
 * CPU may not come to it for long, and a peer's pages must not wait for it.
 */
static inline void rxe_inbox_done(struct sk_buff *skb)
{
	int budget = softirq_count();

	if (skb && skb_has_shared_frag(skb) &&
	    skb->alloc_cpu != raw_smp_processor_id())
		budget = 0;
	napi_consume_skb(skb, budget);
}

/**
 * rxe_inbox_return() - Make a packet the next one
 * @inbox: the side's
 * @skb: the packet
 */
static inline void rxe_inbox_return(struct rxe_inbox *inbox,
				    struct sk_buff *skb)
{
	__skb_queue_head(&inbox->taken, skb);
}

/**
 * rxe_inbox_purge() - Free all packets
 * @inbox: the side's
 */
static inline void rxe_inbox_purge(struct rxe_inbox *inbox)
{
	struct sk_buff *skb;

	while ((skb = rxe_inbox_take(inbox)))
		kfree_skb(skb);
}

#endif /* RXE_INBOX_H */
