package linux

import (
	"io/fs"
	"strconv"
	"strings"

	"fulmen/native"
)

// rdmaFolder is where the kernel lists RDMA devices, whatever carries them:
// InfiniBand, Ethernet (RoCE), or software over any interface (rxe, siw).
const rdmaFolder = "sys/class/infiniband/"

// hasRDMA reports whether there is any RDMA device.
func (t tree) hasRDMA() bool { return len(t.names(strings.TrimSuffix(rdmaFolder, "/"))) > 0 }

// drivesRDMA reports whether the kernel has its part for RDMA, devices or none.
func (t tree) drivesRDMA() bool { return t.exists(strings.TrimSuffix(rdmaFolder, "/")) }

// noRDMA is why the area is absent where the kernel has no such class.
func noRDMA() native.Reason {
	return native.ReasonNoHardware.With("Linux finds no RDMA device")
}

// rdma reads the devices. It is nil with the reason where the kernel has no part
// for them.
func (t tree) rdma() (*native.RDMA, native.Reason) {
	if !t.drivesRDMA() {
		return nil, noRDMA()
	}
	r := &native.RDMA{OSCapable: new(true), Devices: []native.RDMADevice{}}
	for _, name := range t.names(strings.TrimSuffix(rdmaFolder, "/")) {
		r.Devices = append(r.Devices, t.rdmaDevice(name))
	}
	if len(r.Devices) > 0 {
		r.HardwareCapable = new(true)
	} else {
		r.Unknown.Add("hardware_capable", native.ReasonNoOS.With("Linux shows RDMA hardware only once it has a driver"))
	}
	r.Unknown.Add("switch", native.ReasonNoOS.With("Linux has no switch for RDMA"))
	return r, ""
}

// rdmaDevice reads the first port, the one that JACCL opens, as MLX has it.
func (t tree) rdmaDevice(name string) native.RDMADevice {
	d := native.RDMADevice{Name: name}
	port := rdmaFolder + name + "/ports/1/"
	state, err := t.rdmaState(port + "state")
	if d.PortState = state; err != nil {
		d.Unknown.Add("port_state", reason("state", err, native.ReasonSourceGone))
	}
	gids, err := t.rdmaGIDs(port)
	if d.GIDs = gids; err != nil {
		d.Unknown.Add("gids", reason("gids", err, native.ReasonSourceGone))
	}
	if d.Interface = t.rdmaInterface(name, port, gids); d.Interface == "" {
		d.Unknown.Add("interface", native.ReasonNoOS.With("Linux does not say which interface belongs to it"))
	}
	d.Unknown.Add("mtu_bytes", native.ReasonNoOS.With("Linux reports it only to a program that opens the device"))
	if state != "" && state != native.RDMAPortActive {
		// The file has a number all the same, which means nothing.
		d.Unknown.Add("speed_bits_per_s", native.ReasonNotConnected)
		return d
	}
	speed, err := t.rdmaRate(port + "rate")
	if err != nil {
		d.Unknown.Add("speed_bits_per_s", reason("rate", err, native.ReasonSourceGone))
		return d
	}
	d.SpeedBitsPerS = &speed
	return d
}

// rdmaCarried counts what a device's first port has carried; the kernel counts in words of
// four bytes. Software devices have no such files.
func (t tree) rdmaCarried(name string) (carried uint64, err error) {
	if !fs.ValidPath(name) {
		return 0, fs.ErrInvalid
	}
	for _, file := range []string{"port_xmit_data", "port_rcv_data"} {
		text, err := t.text(rdmaFolder + name + "/ports/1/counters/" + file)
		if err != nil {
			return 0, err
		}
		words, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, err
		}
		carried += words * 4
	}
	return carried, nil
}

// rdmaInterface is the network interface that a port's GIDs belong to, or the
// only one of the hardware behind the device.
func (t tree) rdmaInterface(name, port string, gids []native.GID) string {
	for _, gid := range gids {
		if owner, err := t.text(port + "gid_attrs/ndevs/" + strconv.Itoa(gid.Index)); err == nil && owner != "" {
			return owner
		}
	}
	if owners := t.names(rdmaFolder + name + "/device/net"); len(owners) == 1 {
		return owners[0]
	}
	return ""
}

// onInfiniBand reports whether any device's port is on InfiniBand itself and
// not on an Ethernet interface.
func (t tree) onInfiniBand() bool {
	for _, name := range t.names(strings.TrimSuffix(rdmaFolder, "/")) {
		if layer, _ := t.text(rdmaFolder + name + "/ports/1/link_layer"); layer == "InfiniBand" {
			return true
		}
	}
	return false
}
