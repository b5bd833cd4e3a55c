package linux

import "fulmen/native"

const powerSupply = "sys/class/power_supply/"

// setSupply says what the machine runs on, and how full its batteries are.
func (t tree) setSupply(sys *native.System) {
	var plugged, discharging, onUPS bool
	var charge batteryCharge
	supplies := 0
	for _, name := range t.names("sys/class/power_supply") {
		folder := powerSupply + name + "/"
		// A mouse's or a pen's own battery is of no interest.
		if scope, _ := t.text(folder + "scope"); scope == "Device" {
			continue
		}
		kind, _ := t.text(folder + "type")
		status, _ := t.text(folder + "status")
		online, _ := t.number(folder + "online")
		switch kind {
		case "Mains", "USB", "Wireless":
			supplies++
			plugged = plugged || online != 0
		case "Battery":
			supplies++
			discharging = discharging || status == "Discharging"
			t.addCharge(&charge, folder)
		case "UPS":
			supplies++
			onUPS = onUPS || status == "Discharging"
		}
	}
	switch {
	case onUPS:
		sys.PowerSource = native.PowerUPS
	case plugged:
		sys.PowerSource = native.PowerAC
	case discharging:
		sys.PowerSource = native.PowerBattery
	case supplies == 0:
		sys.Unknown.Add("power_source", native.ReasonNoHardware.With("no power supply is described"))
	default:
		sys.Unknown.Add("power_source", native.ReasonNoOS.With("no supply says that it is in use"))
	}
	switch {
	case charge.full > 0:
		sys.BatteryRatio = new(min(1, charge.now/charge.full))
	case charge.batteries > 0:
		sys.Unknown.Add("battery_ratio", native.ReasonNoOS.With("the battery tells no charge"))
	default:
		sys.Unknown.Add("battery_ratio", native.ReasonNoHardware)
	}
}

// batteryCharge adds up batteries, each weighted by what it holds when full.
type batteryCharge struct {
	now, full float64
	batteries int
}

// addCharge reads energy (micro-watt-hours), else charge (micro-ampere-hours),
// else the percentage. Batteries of one machine are all of one kind.
func (t tree) addCharge(sum *batteryCharge, folder string) {
	sum.batteries++
	for _, pair := range [][2]string{{"energy_now", "energy_full"}, {"charge_now", "charge_full"}} {
		now, err1 := t.number(folder + pair[0])
		full, err2 := t.number(folder + pair[1])
		if err1 == nil && err2 == nil && now >= 0 && full > 0 {
			sum.now += float64(now)
			sum.full += float64(full)
			return
		}
	}
	if percent, err := t.number(folder + "capacity"); err == nil && percent >= 0 && percent <= 100 {
		sum.now += float64(percent)
		sum.full += 100
	}
}
