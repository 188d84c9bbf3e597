/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_RUN_H
#define RXE_RUN_H

#include <linux/types.h>

struct rxe_dev;
struct rxe_qp;
struct rxe_task;

/* Process context; get may sleep for a grace period */
void rxe_run_odp_get(struct rxe_dev *rxe);
void rxe_run_odp_put(struct rxe_dev *rxe);
void rxe_run_work(struct rxe_task *task);

/* Any context; each runs the task at once only where that is allowed */
void rxe_run_post(struct rxe_qp *qp);
void rxe_run_rx(struct rxe_task *task, bool poll);

/* Softirq */
void rxe_run_polled(struct rxe_task *task, unsigned int budget);

#endif /* RXE_RUN_H */
