/* CFenec.h - what the Swift module imports: the C interface, and what this repository's package needs
 * beside it. */
#ifndef CFENEC_H
#define CFENEC_H

#include "../../csrc/abi/care.h"
#include "../../csrc/abi/peek.h"
#include "../../csrc/abi/pieces.h"
#include "../../include/fenec.h"
#include "word.h"

#endif
