//go:build cgo && (darwin || (linux && darwinsim))

package darwin

// #include "energy.h"
import "C"

import "sync"

// gauges are what readings of power and heat keep open between them, from the
// first that somebody wants to the platform's end.
type gauges struct {
	mu           sync.Mutex
	energy       *C.fulmen_energy
	sensors      *C.fulmen_sensors
	temperatures *C.fulmen_temperatures
	closed       bool
}

// Energy reads the counters of power since the last reading; the first opens them
// and has counted nothing.
func (f systemFrameworks) Energy() ([]any, error) {
	f.gauges.mu.Lock()
	defer f.gauges.mu.Unlock()
	first := f.gauges.energy == nil
	err := f.ready(first, "IOReport", func() C.int { return C.fulmen_energy_open(&f.gauges.energy) })
	if err != nil || first {
		return nil, err
	}
	return readAs[[]any](f, "IOReport", func(b *C.fulmen_buffer) C.int { return C.fulmen_energy_read(f.gauges.energy, b) })
}

// Sensors reads the controller's keys.
func (f systemFrameworks) Sensors() (map[string]any, error) {
	f.gauges.mu.Lock()
	defer f.gauges.mu.Unlock()
	err := f.ready(f.gauges.sensors == nil, "AppleSMC", func() C.int { return C.fulmen_sensors_open(&f.gauges.sensors) })
	if err != nil {
		return nil, err
	}
	return readAs[map[string]any](f, "AppleSMC", func(b *C.fulmen_buffer) C.int { return C.fulmen_sensors_read(f.gauges.sensors, b) })
}

// Temperatures reads the sensors of the HID event system.
func (f systemFrameworks) Temperatures() ([]any, error) {
	f.gauges.mu.Lock()
	defer f.gauges.mu.Unlock()
	const call = "the HID event system"
	err := f.ready(f.gauges.temperatures == nil, call, func() C.int { return C.fulmen_temperatures_open(&f.gauges.temperatures) })
	if err != nil {
		return nil, err
	}
	return readAs[[]any](f, call, func(b *C.fulmen_buffer) C.int { return C.fulmen_temperatures_read(f.gauges.temperatures, b) })
}

// ready opens what is not open yet; the lock is held.
func (f systemFrameworks) ready(missing bool, call string, open func() C.int) error {
	switch {
	case f.gauges.closed:
		return &frameworkError{call, resultGone}
	case !missing:
		return nil
	}
	defer f.entered()()
	return failed(call, open())
}

// Rest closes what was opened.
func (f systemFrameworks) Rest() {
	f.gauges.mu.Lock()
	defer f.gauges.mu.Unlock()
	defer f.entered()()
	C.fulmen_energy_close(f.gauges.energy)
	C.fulmen_sensors_close(f.gauges.sensors)
	C.fulmen_temperatures_close(f.gauges.temperatures)
	f.gauges.energy, f.gauges.sensors, f.gauges.temperatures = nil, nil, nil
}

// closeGauges closes what was opened, for good.
func (f systemFrameworks) closeGauges() error {
	f.Rest()
	f.gauges.mu.Lock()
	defer f.gauges.mu.Unlock()
	f.gauges.closed = true
	return nil
}
