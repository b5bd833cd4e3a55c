// Messages of IOKit that native/darwin acts on, as xnu's IOMessage.h numbers
// them: iokit_common_msg(m) is 0xE0000000 | m.
#ifndef FULMEN_APPLE_IOMESSAGE_H
#define FULMEN_APPLE_IOMESSAGE_H

#define iokit_common_msg(message) ((uint32_t)(0xE0000000u | (message)))
#define kIOMessageServiceIsTerminated iokit_common_msg(0x010)
#define kIOMessageServicePropertyChange iokit_common_msg(0x130)
#define kIOMessageCanSystemPowerOff iokit_common_msg(0x240)
#define kIOMessageSystemWillPowerOff iokit_common_msg(0x250)
#define kIOMessageSystemWillNotPowerOff iokit_common_msg(0x260)
#define kIOMessageCanSystemSleep iokit_common_msg(0x270)
#define kIOMessageSystemWillSleep iokit_common_msg(0x280)
#define kIOMessageSystemWillNotSleep iokit_common_msg(0x290)
#define kIOMessageSystemHasPoweredOn iokit_common_msg(0x300)
#define kIOMessageSystemWillRestart iokit_common_msg(0x310)
#define kIOMessageSystemWillPowerOn iokit_common_msg(0x320)

#endif
