/* serve/module/ask_tls.c: serve_ask_tls, with GnuTLS, on which libmicrohttpd depends anyway. Without its header, there
 * is no TLS. */
#include "serve/module/ask_tls.h"

#include <string.h>

#if RAPT_GNUTLS
#include <gnutls/gnutls.h>

rapt_code serve_ask_tls(int fd, const char *request, char *answer, size_t size, rapt_error *err)
{
    gnutls_session_t session;
    gnutls_certificate_credentials_t nobody; /* no certificate is verified */
    size_t got = 0;
    ssize_t n = -1;
    answer[0] = '\0';
    if (gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for TLS");
    if (gnutls_certificate_allocate_credentials(&nobody)) {
        gnutls_deinit(session);
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for TLS");
    }
    gnutls_set_default_priority(session);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, nobody);
    gnutls_transport_set_int(session, fd);
    int status = gnutls_handshake(session);
    while (status < 0 && !gnutls_error_is_fatal(status) && status != GNUTLS_E_AGAIN)
        status = gnutls_handshake(session);
    if (!status)
        n = gnutls_record_send(session, request, strlen(request));
    while (n > 0 && got < size - 1 && (n = gnutls_record_recv(session, answer + got, size - 1 - got)) > 0)
        got += (size_t)n;
    answer[got] = '\0';
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(nobody);
    return status ? rapt_fail(err, RAPT_ERR_IO, "no TLS there: %s", gnutls_strerror(status)) : RAPT_OK;
}
#else
rapt_code serve_ask_tls(int fd, const char *request, char *answer, size_t size, rapt_error *err)
{
    (void)fd, (void)request, (void)answer, (void)size;
    return rapt_fail(err, RAPT_ERR_NOT_FOUND, "--check of this build does not speak TLS: ask for /health with curl");
}
#endif
