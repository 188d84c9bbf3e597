/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_POLL_H
#define RXE_POLL_H

#include <linux/types.h>

struct rxe_task;

/* Module init and exit; no packet arrives before or after */
int rxe_poll_init(void);
void rxe_poll_exit(void);

/* Softirq */
bool rxe_poll_add(struct rxe_task *task);

#endif /* RXE_POLL_H */
