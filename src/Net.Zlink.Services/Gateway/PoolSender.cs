using System.Runtime.CompilerServices;

namespace Net.Zlink.Services;

/// <summary>Sends messages to the receivers of one service by its strategy. Takes no lock and counts nothing but the turns.</summary>
/// <param name="sender">Sends to one receiver.</param>
/// <param name="pool">The service.</param>
/// <param name="triesNextWhenFull">See <see cref="GatewayOptions.TryNextWhenFull"/>.</param>
/// <param name="throwIfEnded">Throws if the gateway sends nothing more.</param>
internal sealed class PoolSender(MessageSender sender, ServicePool pool, bool triesNextWhenFull, Action throwIfEnded)
{
    // Below so many messages for each receiver a batch is sent message by message: blocks would favour who is first.
    private const int MaxSinglesPerReceiver = 16;

    /// <summary>Sends to the receiver whose turn it is, or the next one that has room.</summary>
    public bool TrySend<T>(scoped in T form, out ZlinkError error)
        where T : ISendForm, allows ref struct
    {
        PoolSnapshot ready = pool.Ready;
        return TrySend(ready, form, pool.Next(ready), out error);
    }

    /// <summary>Sends to the receiver that is listed with that routing id.</summary>
    public bool TrySendTo<T>(RoutingId routingId, scoped in T form, out ZlinkError error)
        where T : ISendForm, allows ref struct
    {
        if (Find(routingId) is { } name)
        {
            return sender.TrySend(name, form, out error);
        }

        error = ZlinkError.HostUnreachable;
        return false;
    }

    public ValueTask SendAsync<T>(in T form, CancellationToken cancellation)
        where T : struct, IAwaitableForm
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellation);
        }

        PoolSnapshot ready = pool.Ready;
        int first = pool.Next(ready);
        return TrySend(ready, form, first, out ZlinkError error) ? default : WaitAndSendAsync(form, ready, first, error, cancellation);
    }

    public ValueTask SendToAsync<T>(RoutingId routingId, in T form, CancellationToken cancellation)
        where T : struct, IAwaitableForm =>
        sender.SendAsync(Find(routingId) ?? throw Unreachable($" with the routing id {routingId}"), form, cancellation);

    /// <summary>Sends to the receiver whose turn it is, blocking the calling thread for room.</summary>
    /// <exception cref="ZlinkException">HostUnreachable: none is ready.</exception>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan timeout)
    {
        PoolSnapshot ready = pool.Ready;
        throwIfEnded();
        sender.Send(ready.Count > 0 ? ready.Links[pool.Next(ready)].Name : throw Unreachable(""), payload, timeout);
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
            return sender.SendMany(ready.Links[0].Name, batch, 0, batch.Count, out error);
        }

        ulong turn = pool.TakeTurns(batch.Count);
        return batch.Count <= MaxSinglesPerReceiver * ready.Count
            ? SendSingles(ready, batch, turn, out error)
            : SendBlocks(ready, batch, turn, out error);
    }

    public int SendManyTo<T>(RoutingId routingId, scoped in T batch, out ZlinkError error)
        where T : ISendBatch, allows ref struct
    {
        if (Find(routingId) is { } name)
        {
            return sender.SendMany(name, batch, 0, batch.Count, out error);
        }

        error = batch.Count == 0 ? ZlinkError.None : ZlinkError.HostUnreachable;
        return 0;
    }

    public ValueTask<int> SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellation) =>
        SendManyAsync(payloads, rest => SendMany(new PayloadBatch(rest), out _), static payload => new MemoryForm(payload), cancellation);

    public ValueTask<int> SendManyAsync(ReadOnlyMemory<Message> messages, CancellationToken cancellation) =>
        SendManyAsync(messages, rest => SendMany(new MessageBatch(rest), out _), static message => new MessageForm(message), cancellation);

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
            if (sender.TrySend(ready.Links[index].Name, form, out ZlinkError one))
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
            sent += sender.SendMany(ready.Links[(first + i) % ready.Count].Name, batch, from + sent, count - sent, out error);
            outcome = outcome == ZlinkError.Again ? outcome : error;
            if (!triesNextWhenFull)
            {
                break;
            }
        }

        error = sent == count ? ZlinkError.None : outcome;
        return sent;
    }

    /// <returns>The name of the receiver that is listed with that routing id; null: none is ready.</returns>
    private byte[]? Find(RoutingId routingId)
    {
        PoolSnapshot ready = pool.Ready;
        int index = ready.IndexOf(routingId);
        if (index < 0)
        {
            throwIfEnded();
            return null;
        }

        return ready.Links[index].Name;
    }

    private ZlinkException Unreachable(string which) => new(ZlinkError.HostUnreachable, $"no receiver of {pool.Service}{which} is ready");

    private async ValueTask<int> SendManyAsync<TItem, TForm>(
        ReadOnlyMemory<TItem> items, Func<ReadOnlySpan<TItem>, int> sendMany, Func<TItem, TForm> formOf, CancellationToken cancellation)
        where TForm : struct, IAwaitableForm
    {
        cancellation.ThrowIfCancellationRequested();
        for (int sent = 0; ; sent++)
        {
            sent += sendMany(items.Span[sent..]);
            if (sent == items.Length)
            {
                return sent;
            }

            try
            {
                await SendAsync(formOf(items.Span[sent]), cancellation).ConfigureAwait(false);
            }
            catch when (sent > 0)
            {
                return sent; // What was accepted has to be returned; the next call throws.
            }
        }
    }

    /// <summary>Waits at the receiver whose turn it is, or until one is ready.</summary>
    /// <param name="form">The message.</param>
    /// <param name="ready">Among these nobody took it.</param>
    /// <param name="first">Whose turn it was.</param>
    /// <param name="error">Why nobody took it.</param>
    /// <param name="cancellation">Ends the wait.</param>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WaitAndSendAsync<T>(
        T form, PoolSnapshot ready, int first, ZlinkError error, CancellationToken cancellation)
        where T : struct, IAwaitableForm
    {
        while (true)
        {
            if (error == ZlinkError.Again)
            {
                try
                {
                    await sender.SendAsync(ready.Links[IndexWithCapacity(ready, first)].Name, form, cancellation).ConfigureAwait(false);
                    return;
                }
                catch (ZlinkException e) when (e.Error == ZlinkError.HostUnreachable)
                {
                    // Lost while it was waited for. Its pool learns of it, or has.
                }
            }

            await pool.ChangeAsync(ready).WaitAsync(cancellation).ConfigureAwait(false);
            cancellation.ThrowIfCancellationRequested();
            throwIfEnded();
            ready = pool.Ready;
            first = pool.Next(ready);
            if (TrySend(ready, form, first, out error))
            {
                return;
            }
        }
    }

    private int IndexWithCapacity(PoolSnapshot ready, int first)
    {
        for (int i = 0; triesNextWhenFull && i < ready.Count; i++)
        {
            int index = (first + i) % ready.Count;
            if (sender.Router.CanSendTo(ready.Links[index].Name))
            {
                return index;
            }
        }

        return first;
    }
}
