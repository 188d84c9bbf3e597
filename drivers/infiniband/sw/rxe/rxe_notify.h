/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_NOTIFY_H
#define RXE_NOTIFY_H

#include <linux/bits.h>
#include <linux/types.h>

struct rxe_cq;

/* What a CQ's consumer is told */
#define RXE_NOTIFY_COMP		BIT(0)	/* its completion handler */
#define RXE_NOTIFY_OVERFLOW	BIT(1)	/* its event handler */

/* Process context; exit sleeps until the consumer is not called any more */
void rxe_notify_setup(struct rxe_cq *cq, unsigned int comp_vector);
void rxe_notify_stop(struct rxe_cq *cq);

/* Interrupts enabled */
void rxe_notify_cq(struct rxe_cq *cq, u32 what);

/* Softirq */
void rxe_notify_run(struct rxe_cq *cq);

#endif /* RXE_NOTIFY_H */
