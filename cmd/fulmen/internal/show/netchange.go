package show

import (
	"fmt"
	"strings"

	"fulmen/daemon/api"
)

// networkChange is what became different about a node's interfaces.
func networkChange(a, b api.Network) string {
	before, after := byName(a), byName(b)
	var out []string
	for _, i := range b.Interfaces {
		was, had := before[i.Name]
		if !had {
			out = append(out, fmt.Sprintf("%s (%s) appeared", i.Name, i.Type)+prefixed(" with ", strings.Join(addresses(i), ", ")))
			continue
		}
		out = append(out, interfaceChange(was, i)...)
	}
	for _, i := range a.Interfaces {
		if _, has := after[i.Name]; !has {
			out = append(out, i.Name+" is gone")
		}
	}
	if a.PrimaryInterface != b.PrimaryInterface {
		out = append(out, "the default route is over "+orNone(b.PrimaryInterface)+", was "+orNone(a.PrimaryInterface))
	}
	return strings.Join(out, "; ")
}

func byName(n api.Network) map[string]api.Interface {
	out := map[string]api.Interface{}
	for _, i := range n.Interfaces {
		out[i.Name] = i
	}
	return out
}

func interfaceChange(a, b api.Interface) []string {
	var out []string
	add := func(s string) { out = append(out, b.Name+" "+s) }
	switch {
	case a.Up && !b.Up:
		add("switched off")
	case !a.Up && b.Up:
		add("switched on")
	}
	switch {
	case isSet(a.Link) && b.Link != nil && !*b.Link:
		add("link down")
	case !isSet(a.Link) && isSet(b.Link):
		add("link up")
	}
	switch {
	case a.Bridge == b.Bridge:
	case b.Bridge == "":
		add("left " + a.Bridge)
	default:
		add("joined " + b.Bridge)
	}
	gained, lost := compare(set(addresses(a)), set(addresses(b)))
	out = append(out, listed(b.Name+" gained ", gained)...)
	out = append(out, listed(b.Name+" lost ", lost)...)
	number := func(what string, was, is *int64, write func(*int64) string) {
		if is != nil && (was == nil || *was != *is) {
			add(what + " " + write(is) + ", was " + write(was))
		}
	}
	number("MTU", a.MTUBytes, b.MTUBytes, func(n *int64) string {
		if n == nil {
			return none
		}
		return fmt.Sprint(*n)
	})
	number("speed", a.SpeedBitsPerS, b.SpeedBitsPerS, rate)
	return out
}

// addresses are an interface's addresses, without the length of their network.
func addresses(i api.Interface) []string {
	var out []string
	for _, a := range i.Addresses {
		out = append(out, a.Address.Addr().String())
	}
	return out
}

func set(things []string) map[string]bool {
	out := map[string]bool{}
	for _, t := range things {
		out[t] = true
	}
	return out
}
