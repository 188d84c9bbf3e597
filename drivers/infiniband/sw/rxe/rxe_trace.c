// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The bodies of the driver's tracepoints; rxe_trace.h declares them.
 */
#define CREATE_TRACE_POINTS
#include "rxe_trace.h"
