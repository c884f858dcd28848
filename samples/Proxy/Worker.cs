using Net.Zlink;

namespace ProxySample;

/// <summary>Answers requests: a DEALER behind the proxy. A request comes as [client's id, body]; the answer goes back the same
/// way.</summary>
internal sealed class Worker(int number, DealerSocket socket)
{
    private long _answered;

    public long Answered => Volatile.Read(ref _answered);

    /// <summary>Works until the socket is disposed.</summary>
    public async Task RunAsync()
    {
        using var reply = new MessageBuilder();
        await foreach (Message request in socket.ReceiveAllAsync())
        {
            using (request)
            {
                reply.Add(request[0].Span);
                Request.WriteReply(reply.AddSpace(Request.ReplySize), request[1].Span, number);
            }

            await socket.SendAsync(reply);
            Volatile.Write(ref _answered, _answered + 1);
        }
    }
}
