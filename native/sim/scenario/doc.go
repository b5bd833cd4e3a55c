// Package scenario owns the file format of simulated clusters: Macs, cables,
// hubs and networks, what was measured on their like, and a time line of
// faults. It reads a file into plain values and refuses, with its line, what no
// desk could hold: a receptacle used twice, a cable to a node that is not there.
// What the values then do is the business of the package above, sim.
//
// [Load] gives the scenarios that come with the program and files, [Parse] reads
// a text, [FromRecordings] rebuilds a cluster from what its Macs recorded, and
// [ParseOp] reads the one line that a time line, a live change and a script are
// all made of.
//
// # The format
//
// A file is TOML. A key that is not known is an error; a key that is left out is
// either not known of the Mac and said so, or has the default named here. Tables
// may be written as [[mac]] or in one line, mac = [{...}, ...], before the first
// table.
//
//	title = "One line for people"
//
//	[[network]]                 # what interfaces are plugged into
//	name = "lan"                # letters, digits, hyphens; unique in the file
//	type = "ethernet"           # the default, or wifi, vpn
//	isolated = false            # true: members reach the outside, not each other
//
//	[[hub]]                     # a hub or dock
//	name = "dock"
//	vendor = "Example"
//	product = "Example Dock"
//	capability = "tb5"          # tb3, tb4, tb5
//	downstream = 3              # receptacles dock.1 to dock.3 beside dock.up; default 1
//
//	[[mac]]
//	name = "studio-1"
//	like = "mac-studio-m3-ultra" # a known Mac (models.toml): identity, ports,
//	                            # interfaces; what follows here overrides it
//	display_name = "Studio 1"   # what its owner calls it; default: the name
//	host_name = "studio-1"      # default: the name
//	model = "Mac15,14"
//	model_name = "Mac Studio (2025)"
//	chip = "Apple M3 Ultra"
//	cpu_cores = 32
//	performance_cores = 24
//	efficiency_cores = 8
//	gpu_cores = 80
//	gpu_memory = "unified"      # the default for chips called Apple; or dedicated, none
//	architecture = "arm64"      # the default
//	os_name = "macOS"           # the default
//	os = "26.2/25C56"           # version/build, or the version alone
//	memory = "512 GB"           # a GB here is 2^30 bytes, as memory is sold
//	gpu_working_set = "464 GB"  # what the system lets a GPU program hold
//	used = "24 GB"
//	pressure = "normal"         # the default, or warning, critical
//	thermal = "nominal"         # the default, or fair, serious, critical
//	power = "ac"                # the default, or battery, ups
//	battery = 0.81              # charge from 0.0 to 1.0; left out: no battery
//	gpu_use = 0.04              # 0 to 1; left out: not told, as are the next two
//	watts = 14.5                # what the whole machine draws
//	celsius = 41.0              # the GPU's temperature
//	low_power = false
//	lid = "open"                # the default, or closed
//	rdma = "on"                 # off (default), on, on_after_restart
//	rdma_driver = true          # default: macOS 26.2 and later have it
//	rdma_limits = { queue_pairs = 10, completion_queues = 11, memory_regions = 100, protection_domains = 11 } # of a device; left out: not told
//	jobs = "nobody"             # the default, mapped, or accounts: ["ada", "bob"]
//
//	[[mac.port]]                # a receptacle; of a known Mac, its number and
//	receptacle = 4              # what is different
//	place = "back-left"
//	beside_ethernet = false
//	capability = "tb5"
//	interface = "en5"
//	domain_uuid = "..."         # default: made of file, Mac and receptacle
//
//	[[mac.interface]]           # those of ports are there without being written
//	name = "en0"
//	type = "ethernet"           # wifi, ethernet, vpn, loopback, unknown
//	network = "lan"             # not for a port's, which a cable joins
//	addresses = ["192.168.1.11/24 dhcp"] # manual, dhcp, link_local, automatic, unknown;
//	                            # one of fe80::/10 is made where none is stated
//	display_name = "Ethernet"
//	service = "Ethernet"        # its network service; left out: none
//	link = "up"                 # the default, or down
//	mtu = 1500                  # the default
//	speed = "10 Gb/s"
//	expensive = false
//
//	[[mac.bridge]]
//	name = "bridge0"
//	members = ["en2", "en3"]
//	addresses = ["169.254.7.1/16"]
//
//	[[cable]]
//	ends = ["studio-1.tb4", "dock.up"]
//	speed = "80 Gb/s"           # or 120/40G, out/in; default: the best of both
//
//	[[gpu]]                     # measured on a Mac like this one
//	mac = "studio-1"
//	fp16_tflops = 23.6
//	memory_bytes_per_s = 661e9
//
//	[[link]]                    # measured between two Macs like these
//	from = "studio-1"           # from and to left out: between every two of which
//	to = "studio-2"             # no [[link]] of its own tells
//	transport = "rdma"          # or socket
//	over = "tb4"                # from's receptacle, or a network's name; of every two
//	                            # also "cables": those of 80 Gb/s from Mac to Mac
//	up = "74.8 Gb/s"            # from -> to
//	down = "74.8 Gb/s"
//	rtt_us = 18
//	jitter_us = 2
//
//	[[at]]                      # the time line, in order
//	after = "20s"               # since the simulation began
//	do = "retrain studio-1.tb4 40G" # see Verb
package scenario
