using Net.Zlink;

namespace ProxySample;

/// <summary>Asks, with some requests under way at a time, and checks every reply: right, and once.</summary>
internal sealed class Client(int number, DealerSocket socket, Options options, int requests) : IDisposable
{
    private readonly SemaphoreSlim _room = new(options.InFlight);
    private readonly bool[] _isAnswered = new bool[requests];
    private readonly byte[] _sent = new byte[options.Size];
    private readonly byte[] _expected = new byte[options.Size];
    private long _checked;

    public long Checked => Volatile.Read(ref _checked);

    /// <summary>Completes when all requests are answered.</summary>
    /// <exception cref="WrongReplyException">A reply was not what it should be.</exception>
    public async Task RunAsync(CancellationToken cancellation)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        Task asking = AskAsync(stop.Token);
        try
        {
            for (int i = 0; i < requests; i++)
            {
                using Message reply = await socket.ReceiveAsync(stop.Token);
                Check(reply);
                _room.Release();
            }

            await asking;
        }
        catch
        {
            await stop.CancelAsync();
            await asking.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            throw;
        }
    }

    public void Dispose() => _room.Dispose();

    private async Task AskAsync(CancellationToken cancellation)
    {
        for (int i = 0; i < requests; i++)
        {
            await _room.WaitAsync(cancellation);
            Request.Write(_sent, number, i);
            await socket.SendAsync(_sent, cancellation);
        }
    }

    private void Check(Message reply)
    {
        if (reply.PartCount != 1 || reply.Span.Length != Request.ReplySize)
        {
            throw new WrongReplyException(
                $"client {number} got a reply of {reply.PartCount} parts, the first of {reply.Span.Length} bytes");
        }

        (int asked, int worker) = Request.Read(reply.Span);
        if ((uint)asked >= (uint)requests || _isAnswered[asked])
        {
            throw new WrongReplyException(
                $"client {number} got an answer of worker {worker} to request {asked}, which has one already or was never asked");
        }

        Request.Write(_expected, number, asked);
        if (!Request.IsRight(reply.Span, _expected))
        {
            throw new WrongReplyException(
                $"client {number} got a wrong answer of worker {worker} to request {asked}: it is another client's, or damaged");
        }

        _isAnswered[asked] = true;
        Volatile.Write(ref _checked, _checked + 1);
    }
}
