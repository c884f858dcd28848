using System.Runtime.CompilerServices;

namespace Net.Zlink.Services;

/// <summary>Sends messages to the receivers of one service by its strategy. Takes no lock and counts nothing but the turns.</summary>
/// <param name="router">The socket.</param>
/// <param name="builders">For what must go behind an envelope.</param>
/// <param name="pool">The service.</param>
/// <param name="triesNextWhenFull">See <see cref="GatewayOptions.TryNextWhenFull"/>.</param>
/// <param name="throwIfEnded">Throws if the gateway sends nothing more.</param>
internal sealed class PoolSender(
    RouterSocket router, EnvelopeBuilders builders, ServicePool pool, bool triesNextWhenFull, Action throwIfEnded)
{
    // Below so many messages for each receiver a batch is sent message by message: blocks would favour who is first.
    private const int MaxSinglesPerReceiver = 16;

    /// <summary>Sends to the receiver whose turn it is, or the next one that has room.</summary>
    public bool TrySend<T>(scoped in T form, out ZlinkError error)
        where T : ISendForm, allows ref struct
    {
        PoolSnapshot ready = pool.Ready;
        return TrySend(ready, form, ready.Count == 0 ? 0 : pool.Next(ready), out error);
    }

    /// <summary>Sends to the receiver that is listed with that routing id.</summary>
    public bool TrySendTo<T>(RoutingId routingId, scoped in T form, out ZlinkError error)
        where T : ISendForm, allows ref struct
    {
        PoolSnapshot ready = pool.Ready;
        int index = ready.IndexOf(routingId);
        if (index < 0)
        {
            throwIfEnded();
            error = ZlinkError.HostUnreachable;
            return false;
        }

        return form.TrySend(router, builders, ready.Links[index].Name, out error);
    }

    public ValueTask SendAsync<T>(in T form, CancellationToken cancellation)
        where T : struct, IAwaitableForm =>
        cancellation.IsCancellationRequested ? ValueTask.FromCanceled(cancellation)
        : TrySend(form, out _) ? default
        : WaitAndSendAsync(form, cancellation);

    public ValueTask SendToAsync<T>(RoutingId routingId, in T form, CancellationToken cancellation)
        where T : struct, IAwaitableForm
    {
        PoolSnapshot ready = pool.Ready;
        int index = ready.IndexOf(routingId);
        if (index < 0)
        {
            throwIfEnded();
            throw new ZlinkException(ZlinkError.HostUnreachable, $"no receiver of {pool.Service} with the routing id {routingId} is ready");
        }

        return form.SendAsync(router, builders, ready.Links[index].Name, cancellation);
    }

    /// <summary>The name of the receiver whose turn it is, for a send that blocks in the socket.</summary>
    /// <exception cref="ZlinkException">HostUnreachable: none is ready.</exception>
    public byte[] NextName()
    {
        PoolSnapshot ready = pool.Ready;
        if (ready.Count == 0)
        {
            throwIfEnded();
            throw new ZlinkException(ZlinkError.HostUnreachable, $"no receiver of {pool.Service} is ready");
        }

        return ready.Links[pool.Next(ready)].Name;
    }

    /// <summary>Sends a batch: few messages one by one, more of them in one block for each receiver.</summary>
    /// <returns>How many were accepted, from the first one on.</returns>
    public int SendMany<T>(scoped in T batch, out ZlinkError error)
        where T : ISendBatch, allows ref struct
    {
        PoolSnapshot ready = pool.Ready;
        if (ready.Count == 0 || batch.Count == 0)
        {
            throwIfEnded();
            error = batch.Count == 0 ? ZlinkError.None : ZlinkError.HostUnreachable;
            return 0;
        }

        if (ready.Count == 1)
        {
            return batch.Send(router, builders, ready.Links[0].Name, 0, batch.Count, out error);
        }

        ulong turn = pool.TakeTurns(batch.Count);
        return batch.Count <= MaxSinglesPerReceiver * ready.Count
            ? SendSingles(ready, batch, turn, out error)
            : SendBlocks(ready, batch, turn, out error);
    }

    public int SendManyTo<T>(RoutingId routingId, scoped in T batch, out ZlinkError error)
        where T : ISendBatch, allows ref struct
    {
        PoolSnapshot ready = pool.Ready;
        int index = ready.IndexOf(routingId);
        if (index < 0)
        {
            throwIfEnded();
            error = batch.Count == 0 ? ZlinkError.None : ZlinkError.HostUnreachable;
            return 0;
        }

        return batch.Send(router, builders, ready.Links[index].Name, 0, batch.Count, out error);
    }

    public async ValueTask<int> SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellation)
    {
        int sent = 0;
        cancellation.ThrowIfCancellationRequested();
        while (true)
        {
            sent += SendMany(new PayloadBatch(payloads.Span[sent..]), out _);
            if (sent == payloads.Length)
            {
                return sent;
            }

            try
            {
                await WaitAndSendAsync(new MemoryForm(payloads.Span[sent]), cancellation).ConfigureAwait(false);
            }
            catch when (sent > 0)
            {
                return sent; // What was accepted has to be told; the next call throws.
            }

            sent++;
        }
    }

    public async ValueTask<int> SendManyAsync(ReadOnlyMemory<Message> messages, CancellationToken cancellation)
    {
        int sent = 0;
        cancellation.ThrowIfCancellationRequested();
        while (true)
        {
            sent += SendMany(new MessageBatch(messages.Span[sent..]), out _);
            if (sent == messages.Length)
            {
                return sent;
            }

            try
            {
                await WaitAndSendAsync(new MessageForm(messages.Span[sent]), cancellation).ConfigureAwait(false);
            }
            catch when (sent > 0)
            {
                return sent;
            }

            sent++;
        }
    }

    /// <summary>How a block of <paramref name="count"/> messages is shared out: as many for each receiver as its share, the first ones in
    /// turn get what is left over.</summary>
    internal static int[] SharesOf(PoolSnapshot ready, int count, int first, bool isWeighted)
    {
        int[] shares = new int[ready.Count];
        ulong total = isWeighted ? ready.WeightsUpTo[^1] : (ulong)ready.Count;
        int left = count;
        for (int i = 0; i < shares.Length; i++)
        {
            shares[i] = (int)((UInt128)count * (isWeighted ? ready.WeightOf(i) : 1) / total);
            left -= shares[i];
        }

        for (int i = 0; left > 0; i++, left--)
        {
            shares[(first + i) % shares.Length]++;
        }

        return shares;
    }

    private bool TrySend<T>(PoolSnapshot ready, scoped in T form, int first, out ZlinkError error)
        where T : ISendForm, allows ref struct
    {
        error = ZlinkError.HostUnreachable;
        for (int i = 0; i < ready.Count; i++)
        {
            int index = first + i < ready.Count ? first + i : first + i - ready.Count;
            if (form.TrySend(router, builders, ready.Links[index].Name, out ZlinkError one))
            {
                error = ZlinkError.None;
                return true;
            }

            error = error == ZlinkError.Again ? error : one;
            if (!triesNextWhenFull)
            {
                break;
            }
        }

        throwIfEnded();
        return false;
    }

    private int SendSingles<T>(PoolSnapshot ready, scoped in T batch, ulong turn, out ZlinkError error)
        where T : ISendBatch, allows ref struct
    {
        error = ZlinkError.None;
        int sent = 0;
        while (sent < batch.Count && SendBlock(ready, batch, pool.ReceiverAt(ready, turn + (ulong)sent), sent, 1, out error) == 1)
        {
            sent++;
        }

        return sent;
    }

    private int SendBlocks<T>(PoolSnapshot ready, scoped in T batch, ulong turn, out ZlinkError error)
        where T : ISendBatch, allows ref struct
    {
        int first = pool.ReceiverAt(ready, turn);
        int[] shares = SharesOf(ready, batch.Count, first, isWeighted: pool.LoadBalancing == LoadBalancing.Weighted);
        error = ZlinkError.None;
        int sent = 0;
        for (int i = 0; i < ready.Count && error == ZlinkError.None; i++)
        {
            int index = (first + i) % ready.Count;
            sent += SendBlock(ready, batch, index, sent, shares[index], out error);
        }

        return sent;
    }

    /// <summary>Sends a block to one receiver; the rest of what that one has no room for goes to the next ones.</summary>
    private int SendBlock<T>(PoolSnapshot ready, scoped in T batch, int first, int from, int count, out ZlinkError error)
        where T : ISendBatch, allows ref struct
    {
        error = ZlinkError.None;
        ZlinkError outcome = ZlinkError.None;
        int sent = 0;
        for (int i = 0; i < ready.Count && sent < count; i++)
        {
            sent += batch.Send(router, builders, ready.Links[(first + i) % ready.Count].Name, from + sent, count - sent, out error);
            outcome = outcome == ZlinkError.Again ? outcome : error;
            if (!triesNextWhenFull)
            {
                break;
            }
        }

        error = sent == count ? ZlinkError.None : outcome;
        return sent;
    }

    /// <summary>Waits at the receiver whose turn it is, or until one is ready.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WaitAndSendAsync<T>(T form, CancellationToken cancellation)
        where T : struct, IAwaitableForm
    {
        while (true)
        {
            cancellation.ThrowIfCancellationRequested();
            throwIfEnded();
            PoolSnapshot ready = pool.Ready;
            int first = ready.Count == 0 ? 0 : pool.Next(ready);
            if (TrySend(ready, form, first, out ZlinkError error))
            {
                return;
            }

            if (error != ZlinkError.Again)
            {
                await pool.ChangeAsync(ready).WaitAsync(cancellation).ConfigureAwait(false);
                continue;
            }

            try
            {
                await form.SendAsync(router, builders, ready.Links[first].Name, cancellation).ConfigureAwait(false);
                return;
            }
            catch (ZlinkException e) when (e.Error == ZlinkError.HostUnreachable)
            {
                // Lost while it was waited for: another one may be ready.
            }
        }
    }
}
