package linux

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/native"
)

// lanes is what a link negotiated, away from this machine and towards it.
type lanes struct{ gigabits, away, towards int }

// device is the name of a router or a peer, and its path in uevents.
func (w *workbench) device(domain int, route native.Route) (name, path string) {
	path = fmt.Sprintf("/devices/pci0000:00/0000:00:%02x.0/domain%d/%d-0", domain+1, domain, domain)
	for hops := range route.Hops() {
		path += fmt.Sprintf("/%d-%x", domain, uint64(route)&(1<<(8*(hops+1))-1))
	}
	return fmt.Sprintf("%d-%x", domain, uint64(route)), path
}

func bus(name string) string { return strings.TrimPrefix(thunderboltFolder, "sys/") + name + "/" }

// plugController adds a USB4 controller with sockets at the given adapters.
func (w *workbench) plugController(domain int, uuid, version string, adapters ...int) {
	name, path := w.device(domain, 0)
	w.write(bus(name)+"uevent", "DEVTYPE=thunderbolt_device\nUSB4_VERSION="+version+"\nUSB4_TYPE=host")
	w.write(bus(name)+"generation", "4")
	w.write(bus(name)+"unique_id", uuid)
	for _, adapter := range adapters {
		w.write(fmt.Sprintf("%susb4_port%d/link", bus(name), adapter), "none")
	}
	w.uevent("add", path, "thunderbolt", "DEVTYPE=thunderbolt_device")
}

// plugHub adds a router below the host's.
func (w *workbench) plugHub(domain int, route native.Route, vendor, product string, l lanes) {
	name, path := w.device(domain, route)
	w.write(bus(name)+"vendor_name", vendor)
	w.write(bus(name)+"device_name", product)
	w.write(bus(name)+"uevent", "DEVTYPE=thunderbolt_device\nUSB4_TYPE=hub")
	// A router tells its upstream adapter: what that sends comes to this machine.
	w.link(name, l, "rx", "tx")
	w.socket(domain, route, "usb4")
	w.uevent("add", path, "thunderbolt", "DEVTYPE=thunderbolt_device")
}

// plugPeer adds a computer, its services, and the interface of the first where
// it is given.
func (w *workbench) plugPeer(domain int, route native.Route, uuid, vendor, product string, l lanes, iface string, services ...native.PeerService) {
	name, path := w.device(domain, route)
	w.write(bus(name)+"vendor_name", vendor)
	w.write(bus(name)+"device_name", product)
	w.write(bus(name)+"unique_id", uuid)
	w.write(bus(name)+"uevent", "DEVTYPE=thunderbolt_xdomain")
	w.link(name, l, "tx", "rx")
	w.socket(domain, route, "usb4")
	w.uevent("add", path, "thunderbolt", "DEVTYPE=thunderbolt_xdomain")
	for i, service := range services {
		folder := fmt.Sprintf("%s.%d", name, i)
		w.write(bus(folder)+"prtcid", fmt.Sprint(service.ProtocolID))
		w.write(bus(folder)+"prtcvers", fmt.Sprint(service.Version))
		w.uevent("add", path+"/"+folder, "thunderbolt", "DEVTYPE=thunderbolt_service")
	}
	if iface == "" {
		return
	}
	w.write(bus(name+".0")+"net/"+iface+"/ifindex", "7")
	w.write("class/net/"+iface+"/ifindex", "7")
	w.write("class/net/"+iface+"/address", "02:00:00:00:00:07")
	w.write("class/net/"+iface+"/device/uevent", "DRIVER="+thunderboltNet)
	w.uevent("add", path+"/"+name+".0/net/"+iface, "net", "INTERFACE="+iface)
	w.edit(iface, func(t *tables) {
		t.Links = append(t.Links, link{Index: 7, Name: iface, Hardware: hardwareEther, Flags: iffUp | iffLowerUp, MTU: 65520, Address: "02:00:00:00:00:07"})
	})
}

// retrain changes the link of a router or a peer.
func (w *workbench) retrain(domain int, route native.Route, l lanes) {
	name, path := w.device(domain, route)
	away, towards := "rx", "tx"
	if w.has(bus(name) + "unique_id") {
		away, towards = towards, away
	}
	w.link(name, l, away, towards)
	w.uevent("change", path, "thunderbolt")
}

// unplug takes away what is at the end of the route and all that hangs on it.
func (w *workbench) unplug(domain int, route native.Route) {
	names, err := os.ReadDir(filepath.Join(w.sys, bus("")))
	if err != nil {
		w.t.Fatal(err)
	}
	mask := native.Route(1)<<(8*route.Hops()) - 1
	for _, entry := range slices.Backward(names) {
		peer, _, service := parseServiceName(entry.Name())
		if !service {
			peer = entry.Name()
		}
		of, below, ok := parseDeviceName(peer)
		if !ok || of != domain || below&mask != route {
			continue
		}
		_, path := w.device(domain, below)
		if service {
			w.unplugInterfaces(entry.Name())
			path += "/" + entry.Name()
		}
		w.remove(bus(entry.Name()))
		w.socket(domain, route, "none")
		w.uevent("remove", path, "thunderbolt")
	}
}

func (w *workbench) unplugInterfaces(service string) {
	interfaces, _ := os.ReadDir(filepath.Join(w.sys, bus(service)+"net"))
	for _, entry := range interfaces {
		w.remove("class/net/" + entry.Name())
		w.edit(entry.Name(), func(t *tables) {
			t.Links = slices.DeleteFunc(t.Links, func(l link) bool { return l.Name == entry.Name() })
		})
	}
}

// plugRDMA adds a device over an interface, or tells new facts of it.
func (w *workbench) plugRDMA(name, iface, state, rate string, gids ...string) {
	port := "class/infiniband/" + name + "/ports/1/"
	w.write(port+"state", state)
	w.write(port+"rate", rate)
	w.write(port+"link_layer", "Ethernet")
	for i, gid := range gids {
		w.write(fmt.Sprintf("%sgids/%d", port, i), gid)
		w.write(fmt.Sprintf("%sgid_attrs/ndevs/%d", port, i), iface)
	}
	w.uevent("add", "/devices/pci0000:00/0000:00:09.0/infiniband/"+name, "infiniband", "NAME="+name)
}

func (w *workbench) unplugRDMA(name string) {
	w.remove("class/infiniband/" + name)
	w.uevent("remove", "/devices/pci0000:00/0000:00:09.0/infiniband/"+name, "infiniband", "NAME="+name)
}

func (w *workbench) link(name string, l lanes, away, towards string) {
	for direction, count := range map[string]int{away: l.away, towards: l.towards} {
		w.write(bus(name)+direction+"_speed", fmt.Sprintf("%d.0 Gb/s", l.gigabits))
		w.write(bus(name)+direction+"_lanes", fmt.Sprint(count))
	}
}

// socket notes the state of the host's socket, where the route begins there.
func (w *workbench) socket(domain int, route native.Route, state string) {
	if file := fmt.Sprintf("%susb4_port%d/link", bus(fmt.Sprintf("%d-0", domain)), route.Adapter()); route.Hops() == 1 && w.has(file) {
		w.write(file, state)
	}
}

func (w *workbench) has(name string) bool {
	_, err := os.Stat(filepath.Join(w.sys, name))
	return err == nil
}
