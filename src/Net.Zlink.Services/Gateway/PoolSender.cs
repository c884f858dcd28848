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

    /// <summary>Sends to the receiver whose turn it is, or the next one that has capacity.</summary>
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

    /// <summary>Sends to the receiver whose turn it is, blocking the calling thread until there is capacity.</summary>
    /// <exception cref="ZlinkException">HostUnreachable: none is ready.</exception>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan timeout)
    {
        PoolSnapshot ready = pool.Ready;
        throwIfEnded();
        sender.Send(ready.Count > 0 ? ready.Links[pool.Next(ready)].Name : throw Unreachable(""), payload, timeout);
    }

    /// <summary>Sends a batch: few messages one by one, more of them in one block for each receiver.</summary>
    /// <returns>How many were accepted, from the first one on.</returns>
    public int SendMany<TItem, TForm>(ReadOnlySpan<TItem> items, out ZlinkError error)
        where TForm : struct, IBatchForm<TItem, TForm>
    {
        PoolSnapshot ready = pool.Ready;
        if (ready.Count == 0 || items.IsEmpty)
        {
            throwIfEnded();
            error = items.IsEmpty ? ZlinkError.None : ZlinkError.HostUnreachable;
            return 0;
        }

        if (ready.Count == 1)
        {
            return sender.SendMany<TItem, TForm>(ready.Links[0].Name, items, out error);
        }

        ulong turn = pool.TakeTurns(items.Length);
        bool isSingles = items.Length <= MaxSinglesPerReceiver * ready.Count;
        bool isWeighted = pool.LoadBalancing == LoadBalancing.Weighted;
        int first = pool.ReceiverAt(ready, turn);
        int sent = 0;
        ulong weight = 0;
        error = ZlinkError.None;
        for (int i = 0; sent < items.Length && error == ZlinkError.None; i++)
        {
            int index = isSingles ? pool.ReceiverAt(ready, turn + (ulong)i) : (first + i) % ready.Count;
            weight += isWeighted ? ready.WeightOf(index) : 1;
            int end = isSingles ? i + 1 : EndOfBlock(items.Length, weight, isWeighted ? ready.WeightsUpTo[^1] : (ulong)ready.Count);
            sent += SendBlock<TItem, TForm>(ready, items[sent..end], index, out error);
        }

        return sent;
    }

    public int SendManyTo<TItem, TForm>(RoutingId routingId, ReadOnlySpan<TItem> items, out ZlinkError error)
        where TForm : struct, IBatchForm<TItem, TForm>
    {
        if (Find(routingId) is { } name)
        {
            return sender.SendMany<TItem, TForm>(name, items, out error);
        }

        error = items.IsEmpty ? ZlinkError.None : ZlinkError.HostUnreachable;
        return 0;
    }

    public async ValueTask<int> SendManyAsync<TItem, TForm>(ReadOnlyMemory<TItem> items, CancellationToken cancellation)
        where TForm : struct, IBatchForm<TItem, TForm>
    {
        cancellation.ThrowIfCancellationRequested();
        for (int sent = 0; ; sent++)
        {
            sent += SendMany<TItem, TForm>(items.Span[sent..], out _);
            if (sent == items.Length)
            {
                return sent;
            }

            try
            {
                await SendAsync(TForm.Of(items.Span[sent]), cancellation).ConfigureAwait(false);
            }
            catch when (sent > 0)
            {
                return sent; // What was accepted has to be returned; the next call throws.
            }
        }
    }

    /// <summary>Where the block of a receiver ends: whole messages by weight, each receiver in turn rounded up.</summary>
    /// <param name="count">Of the batch.</param>
    /// <param name="weight">Of the receivers up to this one.</param>
    /// <param name="total">Of all receivers.</param>
    internal static int EndOfBlock(int count, ulong weight, ulong total) => (int)((((UInt128)count * weight) + total - 1) / total);

    private bool TrySend<T>(PoolSnapshot ready, scoped in T form, int first, out ZlinkError error)
        where T : ISendForm, allows ref struct
    {
        error = ZlinkError.HostUnreachable;
        int tried = triesNextWhenFull ? ready.Count : Math.Min(1, ready.Count);
        for (int i = 0; i < tried; i++)
        {
            int index = first + i < ready.Count ? first + i : first + i - ready.Count;
            if (sender.TrySend(ready.Links[index].Name, form, out ZlinkError one))
            {
                error = ZlinkError.None;
                return true;
            }

            error = error == ZlinkError.Again ? error : one;
        }

        throwIfEnded();
        return false;
    }

    /// <summary>Sends a block to one receiver; what that one has no capacity for goes to the next ones.</summary>
    private int SendBlock<TItem, TForm>(PoolSnapshot ready, ReadOnlySpan<TItem> items, int first, out ZlinkError error)
        where TForm : struct, IBatchForm<TItem, TForm>
    {
        error = ZlinkError.None;
        ZlinkError outcome = ZlinkError.None;
        int sent = 0;
        for (int i = 0; i < (triesNextWhenFull ? ready.Count : 1) && sent < items.Length; i++)
        {
            sent += sender.SendMany<TItem, TForm>(ready.Links[(first + i) % ready.Count].Name, items[sent..], out error);
            outcome = outcome == ZlinkError.Again ? outcome : error;
        }

        error = sent == items.Length ? ZlinkError.None : outcome;
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

            await ready.Replaced.WaitAsync(cancellation).ConfigureAwait(false);
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
