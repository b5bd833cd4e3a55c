"""Has MLX's own distributed_config choose the cables of clusters that are described on stdin.

Each cluster is a backend and the Thunderbolt ports of its hosts, as [interface, UUID, UUID at
the other end]. What it would write for each host is printed. Nothing is asked or changed.
"""

import json
import sys
from argparse import Namespace

import mlx._distributed_utils.config as config

written = []
config.add_ips = lambda hosts, verbose=False: None
config.can_auto_setup = lambda hosts, sshinfo, auto_setup=False: False
config.save_hostfile = lambda args, hostfile: written.append(hostfile.to_json()["hosts"])
config.IPConfigurator.setup = lambda self, verbose=False, auto_setup=False: None

args = Namespace(verbose=False, env=[], auto_setup=False)
for cluster in json.load(sys.stdin):
    hosts = [config.Host(i, f"mac-{i}", [], []) for i in range(len(cluster["hosts"]))]
    ports = [
        config.ThunderboltHost(f"mac-{i}", sorted((config.ThunderboltPort(*p) for p in of), key=lambda p: p.iface))
        for i, of in enumerate(cluster["hosts"])
    ]
    index = {p.uuid: (i, j) for i, h in enumerate(ports) for j, p in enumerate(h.ports)}
    ips = config.IPConfigurator(hosts, ports, index)
    matrix = config.make_connectivity_matrix(ports, index)
    if cluster["backend"] == "jaccl":
        config.check_valid_mesh(hosts, matrix)
        config.configure_jaccl(args, hosts, ips, None)
    else:
        ring = config.extract_rings(matrix)[0]
        config.configure_jaccl_ring(args, hosts, ips, ring, None)
json.dump([[h["rdma"] for h in hosts] for hosts in written], sys.stdout)
