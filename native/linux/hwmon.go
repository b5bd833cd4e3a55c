package linux

import (
	"slices"
	"strings"

	"fulmen/native"
)

const hwmon = "sys/class/hwmon/"

// cpuSensors and gpuSensors are the names under which drivers give the
// temperatures of a processor and of a GPU.
func cpuSensors() []string {
	return []string{"coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal", "package_thermal"}
}

func gpuSensors() []string {
	return []string{"amdgpu", "radeon", "nouveau", "i915", "xe", "gpu_thermal"}
}

// setHeat reads every sensor and fan that has a driver.
func (t tree) setHeat(sys *native.System) {
	folders := t.names("sys/class/hwmon")
	if len(folders) == 0 {
		sys.Unknown.Add("fans", native.ReasonNoHardware.With("no hwmon sensors"))
	} else {
		sys.Fans = []native.Fan{}
	}
	for _, folder := range folders {
		driver, err := t.text(hwmon + folder + "/name")
		if err != nil {
			driver = folder
		}
		for _, file := range t.names(hwmon + folder) {
			item, ok := strings.CutSuffix(file, "_input")
			switch {
			case ok && strings.HasPrefix(item, "temp"):
				t.addTemperature(sys, driver, hwmon+folder+"/"+item)
			case ok && strings.HasPrefix(item, "fan"):
				sys.Fans = append(sys.Fans, t.fan(driver, hwmon+folder+"/"+item))
			}
		}
	}
	if len(sys.Temperatures) == 0 {
		sys.Unknown.Add("temperatures", native.ReasonNoHardware.With("no temperature sensors"))
	}
	if sys.CPUTemperatureCelsius == nil {
		sys.Unknown.Add("cpu_temperature_celsius", native.ReasonNoHardware.With("no sensor of a known processor driver"))
	}
	if sys.GPUTemperatureCelsius == nil {
		sys.Unknown.Add("gpu_temperature_celsius", native.ReasonNoHardware.With("no sensor of a known GPU driver"))
	}
}

// sensorName is the driver's name and the label that it gives, else the number.
func (t tree) sensorName(driver, sensor string) string {
	label, err := t.text(sensor + "_label")
	if err != nil || label == "" {
		label = sensor[strings.LastIndexByte(sensor, '/')+1:]
	}
	return driver + " " + label
}

func (t tree) addTemperature(sys *native.System, driver, sensor string) {
	// An input that is there and cannot be read is not connected.
	milli, err := t.number(sensor + "_input")
	if err != nil {
		return
	}
	celsius := float64(milli) / 1000
	sys.Temperatures = append(sys.Temperatures, native.Temperature{Name: t.sensorName(driver, sensor), TemperatureCelsius: celsius})
	hottest := func(at **float64) {
		if *at == nil || **at < celsius {
			*at = &celsius
		}
	}
	if slices.Contains(cpuSensors(), driver) {
		hottest(&sys.CPUTemperatureCelsius)
	}
	if slices.Contains(gpuSensors(), driver) {
		hottest(&sys.GPUTemperatureCelsius)
	}
}

func (t tree) fan(driver, sensor string) native.Fan {
	fan := native.Fan{Name: t.sensorName(driver, sensor)}
	for _, speed := range []struct {
		field, file string
		hertz       **float64
	}{{"speed_hz", "_input", &fan.SpeedHz}, {"max_speed_hz", "_max", &fan.MaxSpeedHz}} {
		perMinute, err := t.number(sensor + speed.file)
		if err != nil {
			fan.Unknown.Add(speed.field, reason(sensor+speed.file, err, native.ReasonNoHardware))
			continue
		}
		*speed.hertz = new(float64(perMinute) / 60)
	}
	return fan
}
