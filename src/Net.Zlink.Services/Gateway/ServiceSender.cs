using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Services;

/// <summary>Sends an application's messages to the receivers of one service: to the one with a routing id, or by the strategy. Takes no
/// lock and counts nothing but the turns.</summary>
/// <remarks>A message that begins like an envelope goes behind an envelope of kind Plain. Everywhere an empty routing id stands for the
/// receiver whose turn it is.</remarks>
internal sealed class ServiceSender(RouterSocket router, MessageBuilderPool builders, UnreadMessages unread, ServicePool pool,
    bool triesNextWhenFull, Action throwIfEnded)
{
    // Below so many messages for each receiver a batch is sent message by message: blocks would favour who is first.
    private const int MaxSinglesPerReceiver = 16;

    public SendResult TrySend(RoutingId target, ReadOnlySpan<byte> payload)
    {
        if (RequestEnvelope.HasMagic(payload))
        {
            return TrySendQuoted(target, payload);
        }

        // Nearly every message is taken by the first receiver that it is offered to.
        unread.Want();
        PoolSnapshot ready = pool.Ready;
        if (!target.IsEmpty || ready.Count == 0)
        {
            return OfferTo(Offer.To(ready, target), payload);
        }

        int first = pool.Next(ready);
        SendResult result = router.To(ready.Links[first].Name).TrySend(payload);
        return result ? result : OfferTo(new Offer(ready, first, triesNextWhenFull ? ready.Count : 1, result), payload);
    }

    public SendResult TrySend(RoutingId target, in MessageForm message)
    {
        if (!message.NeedsEnvelope)
        {
            return TrySendAsIs(target, message, out _);
        }

        using RentedBuilder quoted = Quote();
        SendResult result = TrySendAsIs(target, new MessageForm(message.CopyTo(quoted.Message)), out _);
        if (result)
        {
            message.Complete();
        }

        return result;
    }

    /// <summary>Waits for capacity, but not for a receiver that is ready.</summary>
    /// <param name="target">Which receiver.</param>
    /// <param name="payload">Copied.</param>
    /// <param name="timeout">The longest wait; null: that of the socket.</param>
    /// <exception cref="ZlinkException">HostUnreachable: none is ready.</exception>
    public void Send(RoutingId target, ReadOnlySpan<byte> payload, TimeSpan? timeout)
    {
        OptionRange.WaitTime(timeout);
        if (TrySend(target, payload))
        {
            return;
        }

        Offer offer = Begin(target);
        PeerSender peer = offer.TryNext(out ReceiverLink? link) ? router.To(link.Name) : throw Unreachable(target);
        if (RequestEnvelope.HasMagic(payload))
        {
            using RentedBuilder quoted = Quote();
            peer.Send(quoted.Message.Add(payload), timeout);
        }
        else
        {
            peer.Send(payload, timeout);
        }
    }

    /// <summary>Waits for capacity, and for a receiver that is ready unless one is named.</summary>
    public ValueTask SendAsync(RoutingId target, in MessageForm message, CancellationToken cancellation) =>
        cancellation.IsCancellationRequested ? ValueTask.FromCanceled(cancellation)
            : message.NeedsEnvelope ? SendQuotedAsync(target, message, cancellation)
            : SendAsIsAsync(target, message, cancellation);

    /// <summary>Sends a batch: few messages one by one, more of them in one block for each receiver.</summary>
    /// <returns>How many were accepted, from the first one on.</returns>
    public int SendMany<TItem, TForm>(RoutingId target, ReadOnlySpan<TItem> items)
        where TForm : IBatchForm<TItem>
    {
        unread.Want();
        PoolSnapshot ready = pool.Ready;
        int only = !target.IsEmpty ? ready.IndexOf(target) : ready.Count == 1 ? 0 : -1;
        int sent = HasLookalike<TItem, TForm>(items) ? SendOneByOne<TItem, TForm>(target, items)
            : only >= 0 ? TForm.SendMany(router.To(ready.Links[only].Name), items)
            : target.IsEmpty && ready.Count > 0 ? SendBlocks<TItem, TForm>(ready, items)
            : 0;
        if (sent == 0)
        {
            throwIfEnded();
        }

        return sent;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> SendManyAsync<TItem, TForm>(RoutingId target, ReadOnlyMemory<TItem> items, CancellationToken cancellation)
        where TForm : IBatchForm<TItem>
    {
        cancellation.ThrowIfCancellationRequested();
        for (int sent = 0; ; sent++)
        {
            sent += SendMany<TItem, TForm>(target, items.Span[sent..]);
            if (sent == items.Length)
            {
                return sent;
            }

            try
            {
                await SendAsync(target, TForm.FormOf(items.Span[sent]), cancellation).ConfigureAwait(false);
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

    private Offer Begin(RoutingId target)
    {
        unread.Want();
        PoolSnapshot ready = pool.Ready;
        return !target.IsEmpty ? Offer.To(ready, target)
            : new Offer(ready, pool.Next(ready), triesNextWhenFull ? ready.Count : Math.Min(1, ready.Count));
    }

    private SendResult OfferTo(Offer offer, ReadOnlySpan<byte> payload)
    {
        while (offer.TryNext(out ReceiverLink? link))
        {
            offer.Note(router.To(link.Name).TrySend(payload));
        }

        return End(offer);
    }

    private SendResult TrySendQuoted(RoutingId target, ReadOnlySpan<byte> payload)
    {
        using RentedBuilder quoted = Quote();
        return TrySendAsIs(target, new MessageForm(quoted.Message.Add(payload)), out _);
    }

    private SendResult End(in Offer offer)
    {
        if (!offer.Result)
        {
            throwIfEnded();
        }

        return offer.Result;
    }

    private RentedBuilder Quote()
    {
        var quoted = new RentedBuilder(builders);
        quoted.Message.AddEnvelope(new RequestEnvelope { Kind = EnvelopeKind.Plain });
        return quoted;
    }

    /// <param name="target">Which receiver.</param>
    /// <param name="message">Has its envelope, or needs none.</param>
    /// <param name="offer">To whom it was offered.</param>
    private SendResult TrySendAsIs(RoutingId target, in MessageForm message, out Offer offer)
    {
        offer = Begin(target);
        while (offer.TryNext(out ReceiverLink? link))
        {
            offer.Note(message.TrySend(router.To(link.Name)));
        }

        return End(offer);
    }

    private ValueTask SendAsIsAsync(RoutingId target, in MessageForm message, CancellationToken cancellation) =>
        TrySendAsIs(target, message, out Offer offer) ? default : WaitAndSendAsync(target, message, offer, cancellation);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask SendQuotedAsync(RoutingId target, MessageForm message, CancellationToken cancellation)
    {
        using RentedBuilder quoted = Quote();
        await SendAsIsAsync(target, new MessageForm(message.CopyTo(quoted.Message)), cancellation).ConfigureAwait(false);
        message.Complete();
    }

    /// <summary>Waits at the receiver whose turn it is, or until one is ready.</summary>
    /// <param name="target">Which receiver.</param>
    /// <param name="message">Has its envelope, or needs none.</param>
    /// <param name="offer">Nobody took it.</param>
    /// <param name="cancellation">Ends the wait.</param>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WaitAndSendAsync(RoutingId target, MessageForm message, Offer offer, CancellationToken cancellation)
    {
        do
        {
            if (offer.Result.Reason != SendFailure.NoPeer)
            {
                try
                {
                    await message.SendAsync(router.To(ToWaitFor(offer).Name), cancellation).ConfigureAwait(false);
                    return;
                }
                catch (ZlinkException e) when (e.Error == ZlinkError.HostUnreachable && target.IsEmpty)
                {
                    // Lost while it was waited for. Its pool learns of it, or has.
                }
            }

            if (!target.IsEmpty)
            {
                throw Unreachable(target);
            }

            await offer.Ready.Replaced.WaitAsync(cancellation).ConfigureAwait(false);
            cancellation.ThrowIfCancellationRequested();
            throwIfEnded();
        }
        while (!TrySendAsIs(target, message, out offer));
    }

    /// <returns>The first one that has capacity; nobody: the one that it was offered to first.</returns>
    private ReceiverLink ToWaitFor(Offer offer)
    {
        offer.Restart();
        ReceiverLink? first = null;
        while (offer.TryNext(out ReceiverLink? link))
        {
            first ??= link;
            if (router.CanSendTo(link.Name))
            {
                return link;
            }
        }

        return first!;
    }

    private int SendBlocks<TItem, TForm>(PoolSnapshot ready, ReadOnlySpan<TItem> items)
        where TForm : IBatchForm<TItem>
    {
        ulong turn = pool.TakeTurns(items.Length);
        bool isSingles = items.Length <= MaxSinglesPerReceiver * ready.Count;
        bool isWeighted = pool.LoadBalancing == LoadBalancing.Weighted;
        int first = pool.ReceiverAt(ready, turn);
        int sent = 0;
        int end = 0;
        ulong weight = 0;
        for (int i = 0; sent == end && end < items.Length; i++)
        {
            int index = isSingles ? pool.ReceiverAt(ready, turn + (ulong)i) : (first + i) % ready.Count;
            weight += isWeighted ? ready.WeightOf(index) : 1;
            end = isSingles ? i + 1 : EndOfBlock(items.Length, weight, isWeighted ? ready.WeightsUpTo[^1] : (ulong)ready.Count);
            sent += SendBlock<TItem, TForm>(ready, items[sent..end], index);
        }

        return sent;
    }

    /// <summary>Sends a block to one receiver; what that one has no capacity for goes to the next ones.</summary>
    private int SendBlock<TItem, TForm>(PoolSnapshot ready, ReadOnlySpan<TItem> items, int first)
        where TForm : IBatchForm<TItem>
    {
        int sent = 0;
        for (int i = 0; i < (triesNextWhenFull ? ready.Count : 1) && sent < items.Length; i++)
        {
            sent += TForm.SendMany(router.To(ready.Links[(first + i) % ready.Count].Name), items[sent..]);
        }

        return sent;
    }

    /// <summary>Of a batch in which a message needs an envelope: blocks are for speed, and such batches are rare.</summary>
    private int SendOneByOne<TItem, TForm>(RoutingId target, ReadOnlySpan<TItem> items)
        where TForm : IBatchForm<TItem>
    {
        int sent = 0;
        while (sent < items.Length && TrySend(target, TForm.FormOf(items[sent])))
        {
            sent++;
        }

        return sent;
    }

    private static bool HasLookalike<TItem, TForm>(ReadOnlySpan<TItem> items)
        where TForm : IBatchForm<TItem>
    {
        foreach (ref readonly TItem item in items)
        {
            if (RequestEnvelope.HasMagic(TForm.FirstPart(item)))
            {
                return true;
            }
        }

        return false;
    }

    private ZlinkException Unreachable(RoutingId target) => new(ZlinkError.HostUnreachable,
        $"no receiver of {pool.Service}{(target.IsEmpty ? "" : $" with the routing id {target}")} is ready");
}

/// <summary>Whom a message is offered to, one after the other, until one takes it.</summary>
internal struct Offer
{
    private readonly int _first;
    private readonly int _most;
    private int _offered;

    /// <param name="ready">Those that are ready.</param>
    /// <param name="first">The place of the first one.</param>
    /// <param name="most">How many at most.</param>
    public Offer(PoolSnapshot ready, int first, int most) => (Ready, _first, _most, Result) = (ready, first, most, SendFailure.NoPeer);

    /// <summary>The first one has refused it.</summary>
    public Offer(PoolSnapshot ready, int first, int most, SendResult refused)
        : this(ready, first, most) => (_offered, Result) = (1, refused);

    public PoolSnapshot Ready { get; }

    /// <summary>Sent, or why nobody took it: full, where at least one was full.</summary>
    public SendResult Result { get; private set; }

    /// <summary>To the one that is listed with a routing id, if it is ready.</summary>
    public static Offer To(PoolSnapshot ready, RoutingId target) =>
        ready.IndexOf(target) is var place and >= 0 ? new Offer(ready, place, 1) : new Offer(ready, 0, 0);

    public bool TryNext([NotNullWhen(true)] out ReceiverLink? link)
    {
        bool isThere = _offered < _most && !Result;
        int place = _first + _offered++;
        link = isThere ? Ready.Links[_most > 1 && place >= Ready.Count ? place - Ready.Count : place] : null;
        return isThere;
    }

    public void Note(SendResult result) => Result = result || Result.Reason != SendFailure.Full ? result : Result;

    /// <summary>Begins again with the first one.</summary>
    public void Restart() => _offered = 0;
}
