package linux

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
)

const (
	// mostUeventBytes bounds a message: the kernel has 2048 bytes for the
	// variables, and a path of PATH_MAX before them.
	mostUeventBytes = 8 << 10
	// mostUeventVariables bounds their number; the kernel has room for 64.
	mostUeventVariables = 128
)

// thunderboltNet is the driver of network interfaces over Thunderbolt.
const thunderboltNet = "thunderbolt-net"

// uevent is what the kernel says when a device comes, goes or changes.
type uevent struct {
	action    string // "add", "remove", "change", "move", "bind", "unbind", "online", "offline"
	device    string // its path below /sys: "/devices/.../0-1"
	subsystem string
	driver    string // "" when none is bound
}

// parseUevent reads a message of the group of kernel events: "ACTION@DEVPATH",
// and variables KEY=VALUE, each ended by a zero byte. ACTION, DEVPATH, SUBSYSTEM
// and SEQNUM are among them, and the first two repeat the header. A message in
// the form of udevd, which begins with "libudev", is an error like any other.
func parseUevent(data []byte) (uevent, error) {
	if len(data) > mostUeventBytes {
		return uevent{}, fmt.Errorf("a uevent of %d bytes is too long", len(data))
	}
	lines, ended := bytes.CutSuffix(data, []byte{0})
	if !ended {
		return uevent{}, fmt.Errorf("a uevent that does not end: %.40q", data)
	}
	header, variables, _ := bytes.Cut(lines, []byte{0})
	action, device, ok := strings.Cut(string(header), "@")
	actions := []string{"add", "remove", "change", "move", "online", "offline", "bind", "unbind"}
	if !ok || !slices.Contains(actions, action) || !strings.HasPrefix(device, "/") {
		return uevent{}, fmt.Errorf("not the header of a uevent: %.40q", header)
	}
	values, err := parseUeventVariables(variables)
	if err != nil {
		return uevent{}, err
	}
	if values["ACTION"] != action || values["DEVPATH"] != device {
		return uevent{}, fmt.Errorf("the header %.40q of a uevent does not match its variables", header)
	}
	if values["SUBSYSTEM"] == "" {
		return uevent{}, fmt.Errorf("a uevent without a subsystem: %.40q", header)
	}
	if _, err := strconv.ParseUint(values["SEQNUM"], 10, 64); err != nil {
		return uevent{}, fmt.Errorf("a uevent without a number: %.40q", header)
	}
	return uevent{action: action, device: device, subsystem: values["SUBSYSTEM"], driver: values["DRIVER"]}, nil
}

// parseUeventVariables refuses what is no variable, and a second one of a name
// with another value: of two answers neither would be the kernel's.
func parseUeventVariables(data []byte) (map[string]string, error) {
	values := map[string]string{}
	for i, line := range bytes.Split(data, []byte{0}) {
		key, value, ok := strings.Cut(string(line), "=")
		if !ok || key == "" || i == mostUeventVariables {
			return nil, fmt.Errorf("variable %d of a uevent: %.40q", i, line)
		}
		if old, twice := values[key]; twice && old != value {
			return nil, fmt.Errorf("variable %.40q of a uevent is given twice", key)
		}
		values[key] = value
	}
	return values, nil
}

// subject is the name of the device.
func (u uevent) subject() string { return strings.ToValidUTF8(path.Base(u.device), "\uFFFD") }

// ueventAreas are the areas of which uevents speak.
func ueventAreas() []native.Area {
	return []native.Area{native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA}
}

// areas are those whose facts may have changed. Of network interfaces in general
// rtnetlink speaks; of one over Thunderbolt it does not say that it is one, nor
// does the event: its place below a service of a peer does.
func (u uevent) areas() []native.Area {
	switch u.subsystem {
	case "infiniband":
		return []native.Area{native.AreaRDMA}
	case "thunderbolt":
		if u.driver == thunderboltNet {
			return []native.Area{native.AreaNetwork, native.AreaThunderbolt}
		}
		return []native.Area{native.AreaThunderbolt}
	case "net":
		folders := strings.Split(u.device, "/")
		slices.Reverse(folders)
		if len(folders) > 2 && folders[1] == "net" {
			if _, _, ok := parseServiceName(folders[2]); ok {
				return []native.Area{native.AreaNetwork, native.AreaThunderbolt}
			}
		}
	}
	return nil
}
