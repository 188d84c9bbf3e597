/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_NOTIFY_H
#define RXE_NOTIFY_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/llist.h>
#include <linux/types.h>

/* What the consumer of a CQ is told */
#define RXE_NOTIFY_COMP		BIT(0)	/* its completion handler */
#define RXE_NOTIFY_OVERFLOW	BIT(1)	/* its event handler */

/* What the consumer of a QP or of an SRQ is told, see rxe_event.c */
#define RXE_NOTIFY_SQ_DRAINED	BIT(0)
#define RXE_NOTIFY_LAST_WQE	BIT(1)
#define RXE_NOTIFY_ACCESS_ERR	BIT(2)
#define RXE_NOTIFY_SRQ_LIMIT	BIT(3)

/* The CPU of a consumer who has not said which */
#define RXE_NOTIFY_ANYWHERE	-1

/**
 * struct rxe_notify - The calls of one consumer
 * @state: what it is to be told, RXE_NOTIFY_* bits, and RXE_SIDE_* bits
 * @node: in the list of the CPU that will call it
 * @cpu: which one, or RXE_NOTIFY_ANYWHERE
 * @call: tells it; softirq, one call at a time
 */
struct rxe_notify {
	atomic_t		state;
	struct llist_node	node;
	int			cpu;
	void			(*call)(struct rxe_notify *notify, u32 what);
};

/* Process context; stop sleeps until the consumer is not called any more */
void rxe_notify_setup(struct rxe_notify *notify, int cpu,
		      void (*call)(struct rxe_notify *notify, u32 what));
void rxe_notify_stop(struct rxe_notify *notify);

/* Interrupts enabled */
void rxe_notify(struct rxe_notify *notify, u32 what);

/* Softirq */
void rxe_notify_run(struct rxe_notify *notify);

#endif /* RXE_NOTIFY_H */
