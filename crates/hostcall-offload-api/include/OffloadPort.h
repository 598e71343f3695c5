/*
 * What a function that olPlatformRegisterRPCCallback was given gets as its port: one lane's call of a service that the library's server does not have.
 *
 *     static unsigned answer(void *data, unsigned lanes) {
 *         struct offload_port *port = data;
 *         if (strcmp(port->service, "Host__add42") != 0)
 *             return OFFLOAD_PORT_UNHANDLED;
 *         float x;
 *         memcpy(&x, port->request, sizeof x);
 *         x += 42;
 *         memcpy(port->reply, &x, sizeof x);
 *         port->reply_units = 1;
 *         return OFFLOAD_PORT_HANDLED;
 *     }
 *
 * The function is called on threads of the library, several at once, while the kernel runs and waits. NumLanes is always 1.
 */
#ifndef OFFLOAD_PORT_H
#define OFFLOAD_PORT_H

#include <stddef.h>
#include <stdint.h>

/* What the function returns; the values are those of LLVM's RPC_SUCCESS, RPC_ERROR and RPC_UNHANDLED_OPCODE. Any other value ends the call as a failed
 * one, and is the code that the kernel gets to see. */
#define OFFLOAD_PORT_HANDLED 0x0u
#define OFFLOAD_PORT_ERROR 0x1000u
#define OFFLOAD_PORT_UNHANDLED 0x1001u

struct offload_port {
    size_t size;          /* bytes of this structure; later versions have more at the end */
    const char *service;  /* the service's name: trait, two underscores, function */
    uint32_t lane;        /* the calling lane's number in its wave */
    uint32_t posted;      /* not 0: nobody waits for a reply */
    const uint32_t *request; /* the arguments, in units of 32 bits, as the protocol lays them out */
    size_t request_units; /* the arguments, and zeros up to the end of the last word of the message */
    uint32_t *reply;      /* room for the result */
    size_t reply_capacity; /* in units */
    size_t reply_units;   /* how many were written: 0 until the function says so */
};

#endif
