#include "rep/network/network.h"

#include <nftables/libnftables.h>
#include <string.h>

int filter_run(const char *words, struct buf *out, struct err *err)
{
    struct nft_ctx *c = nft_ctx_new(NFT_CTX_DEFAULT);
    if (!c) {
        return err_set(err, ERR_IO, "the packet filter cannot be reached");
    }
    nft_ctx_buffer_output(c);
    nft_ctx_buffer_error(c);
    if (out) {
        nft_ctx_output_set_flags(c, NFT_CTX_OUTPUT_JSON);
    }
    int result = 0;
    if (nft_run_cmd_from_buffer(c, words) != 0) {
        const char *why = nft_ctx_get_error_buffer(c);
        result = err_set(err, ERR_IO, "the packet filter refuses: %.*s",
                         (int)strcspn(why ? why : "", "\n"), why ? why : "");
    } else if (out) {
        buf_append_string(out, nft_ctx_get_output_buffer(c));
    }
    nft_ctx_free(c);
    return result;
}
