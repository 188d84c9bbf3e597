/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_EVENT_H
#define RXE_EVENT_H

#include <linux/types.h>

struct rxe_notify;

/* Softirq; see rxe_notify_setup() */
void rxe_event_call_qp(struct rxe_notify *notify, u32 what);
void rxe_event_call_srq(struct rxe_notify *notify, u32 what);

#endif /* RXE_EVENT_H */
