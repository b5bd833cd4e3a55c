// The counters of power and of the GPU's states (IOReport), and the sensors of the
// machine's controller (SMC). Both are opened when somebody first watches.
#ifndef FULMEN_DARWIN_ENERGY_H
#define FULMEN_DARWIN_ENERGY_H

#include "buffer.h"
#include "result.h"

typedef struct fulmen_energy fulmen_energy;

// fulmen_energy_open takes the first sample. FULMEN_NO_SYMBOL: no library, or one
// without these functions.
int fulmen_energy_open(fulmen_energy **energy);
// fulmen_energy_read writes what was counted since the last sample, an array of
// maps: "group", "name", and "unit" with "value" or "states", maps of "name" and
// "residency".
int fulmen_energy_read(fulmen_energy *energy, fulmen_buffer *out);
void fulmen_energy_close(fulmen_energy *energy);

typedef struct fulmen_sensors fulmen_sensors;

// fulmen_sensors_open finds the keys that count; FULMEN_GONE: no such controller.
int fulmen_sensors_open(fulmen_sensors **sensors);
// fulmen_sensors_read writes a map with "values", a map of key to number.
int fulmen_sensors_read(fulmen_sensors *sensors, fulmen_buffer *out);
void fulmen_sensors_close(fulmen_sensors *sensors);

typedef struct fulmen_temperatures fulmen_temperatures;

// The sensors of the HID event system, for a machine whose controller has no key
// of a temperature. fulmen_temperatures_open: FULMEN_NO_SYMBOL, no such functions;
// FULMEN_GONE, no such sensors.
int fulmen_temperatures_open(fulmen_temperatures **temperatures);
// fulmen_temperatures_read writes an array of maps of "name" and "celsius".
int fulmen_temperatures_read(fulmen_temperatures *temperatures, fulmen_buffer *out);
void fulmen_temperatures_close(fulmen_temperatures *temperatures);

#endif
