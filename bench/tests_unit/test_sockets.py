# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""qperf's and iperf3's outputs; qperf's are recorded from 0.4.11."""

import json
import unittest

from bench import sockets
from bench.exchange import CellError, Ports
from bench.tests_unit.fake import FakeLab
from bench.tests_unit.test_perftest import run_of

UDP_LAT = "udp_lat:\n    latency  =  3120 ns\n"
UDP_BW = ("udp_bw:\n    send_bw  =  24261312 bytes/sec\n"
          "    recv_bw  =  12118272 bytes/sec\n")
TCP_BW = "tcp_bw:\n    bw  =  4175104 bytes/sec\n"


class Qperf(unittest.TestCase):
    def test_recorded_outputs(self):
        self.assertEqual(sockets._one(sockets._LATENCY, UDP_LAT), 3120)
        self.assertEqual(sockets._one(sockets._RECEIVED, UDP_BW), 12118272)
        self.assertEqual(sockets._one(sockets._RECEIVED, TCP_BW), 4175104)

    def test_no_figure_or_zero_is_an_error(self):
        for out in ("", "udp_lat:\n    latency  =  3.12 us\n",
                    "udp_lat:\n    latency  =  0 ns\n", UDP_LAT + UDP_LAT):
            with self.subTest(out=out), self.assertRaises(CellError):
                sockets._one(sockets._LATENCY, out)


class Iperf3(unittest.TestCase):
    def test_received_bytes_count(self):
        out = json.dumps({"end": {"sum_received": {
            "bits_per_second": 8 * 2**20 * 90.0}}})
        self.assertAlmostEqual(sockets.received(out), 90.0)

    def test_errors(self):
        for out in ("", "{}", '{"error": "unable to connect"}',
                    '{"end": {"sum_received": {"bits_per_second": 0}}}',
                    '{"end": {"sum_received": null}}'):
            with self.subTest(out=out), self.assertRaises(CellError):
                sockets.received(out)


class Measure(unittest.TestCase):
    def test_kinds(self):
        lab, ports = FakeLab(), Ports()
        self.assertEqual(sockets.measure(lab, ports, run_of("send", "lat", 2),
                                         "tcp"), {"lat": 900.0})
        self.assertEqual(sockets.measure(lab, ports, run_of("write", "bw", 64),
                                         "udp"), {"rate": 62.5})

    def test_a_datagram_fits_a_packet(self):
        self.assertEqual(sockets.datagram(run_of("write", "bw", 65536)), 4172)
        self.assertEqual(sockets.datagram(run_of("write", "bw", 64)), 64)


if __name__ == "__main__":
    unittest.main()
