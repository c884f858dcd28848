using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Reads what receivers send: replies end their requests, all else waits for the application.</summary>
/// <remarks>
/// The only reader of the socket, so that the end of a connection can be ordered behind what came over it: the event may overtake replies
/// that are unread.
/// </remarks>
/// <param name="router">The socket.</param>
/// <param name="links">Whose connections it has.</param>
/// <param name="requests">Who waits for replies.</param>
/// <param name="unread">Gets all else.</param>
/// <param name="logger">Gets faults of the application's loggers and listeners.</param>
internal sealed class ReplyLoop(RouterSocket router, LinkTable links, Requests requests, UnreadMessages unread, ILogger logger)
{
    private const int BatchSize = 256;

    private readonly ConcurrentQueue<ReceiverLink> _lost = new();
    private readonly Message[] _batch = new Message[BatchSize];
    private readonly Action<ReceiverLink> _draining = links.OnDraining;
    private readonly Action<ReceiverLink> _heard = link => requests.Ejections.OnReceived(link);
    private CancellationTokenSource _wake = new();

    /// <summary>A connection has ended. Its requests end when all that came over it was received.</summary>
    public void OnLost(ReceiverLink link)
    {
        _lost.Enqueue(link);
        Wake();
    }

    /// <summary>The loop looks again: a connection has ended, or there is a first request, for whose reply it must not wait until the
    /// application receives.</summary>
    public void Wake() => Volatile.Read(ref _wake).Cancel();

    /// <summary>Reads until the socket ends.</summary>
    public async ValueTask RunAsync(CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            int count = 0;
            CancellationTokenSource wake = Volatile.Read(ref _wake);
            try
            {
                count = await router.ReceiveManyAsync(_batch, wake.Token).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (wake.IsCancellationRequested)
            {
                // Handled below.
            }

            if (wake.IsCancellationRequested)
            {
                // Before the check: anything that arrives after it wakes the loop again.
                Volatile.Write(ref _wake, new CancellationTokenSource());
            }

            await ProcessAsync(count).ConfigureAwait(false);
            if (!_lost.IsEmpty)
            {
                await EndLostAsync().ConfigureAwait(false);
            }
        }
    }

    /// <summary>What those connections had unread is received first. Each peer has its turn, so more messages than are unread now, times
    /// the peers, need not be checked under steady inflow.</summary>
    private async ValueTask EndLostAsync()
    {
        int lost = _lost.Count;
        long left = router.GetStatistics().UnreadMessages * (router.PeerCount + lost);
        int count;
        do
        {
            count = router.ReceiveMany(_batch);
            left -= count;
            await ProcessAsync(count).ConfigureAwait(false);
        }
        while (count == BatchSize && left > 0);

        for (; lost > 0 && _lost.TryDequeue(out ReceiverLink? link); lost--)
        {
            requests.OnLost(link);
        }
    }

    private async ValueTask ProcessAsync(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Message message = _batch[i];
            _batch[i] = default;
            try
            {
                if (!TryProcess(message, out GatewayMessage unasked, out ReceiverLink link))
                {
                    await EnqueueAsync(unasked, link.Unread).ConfigureAwait(false);
                }
            }
            catch (Exception e)
            {
                ServicesLog.TryTurnFailed(logger, e, "reply"); // The rest of the batch is whole.
            }
        }
    }

    /// <summary>Waits until the application has received enough; once requests were started, an unread message is dropped
    /// instead.</summary>
    private async ValueTask EnqueueAsync(GatewayMessage unasked, UnreadOfLink from)
    {
        while (!unread.TryEnqueue(from, unasked, mayDrop: Volatile.Read(ref requests.Counters.Started) != 0, out Task capacity))
        {
            CancellationTokenSource wake = Volatile.Read(ref _wake);
            await capacity.WaitAsync(wake.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (wake.IsCancellationRequested && Volatile.Read(ref requests.Counters.Started) == 0)
            {
                Volatile.Write(ref _wake, new CancellationTokenSource());
                _lost.Clear(); // No request was sent that could be lost.
            }
        }
    }

    /// <returns>False: the application is to have it.</returns>
    private bool TryProcess(in Message message, out GatewayMessage unasked, out ReceiverLink link)
    {
        unasked = default;
        link = links.Find(message.RoutingId.Span)!;
        if (link is null)
        {
            message.Dispose(); // Disconnected in this moment.
            return true;
        }

        link.CountReceived();
        if (link.Health.IsInDoubt)
        {
            Note(link, _heard);
        }

        if (!RequestEnvelope.TryRead(message.Span, out RequestEnvelope envelope))
        {
            unasked = new GatewayMessage(link.Receiver, message, skip: 0);
            return false;
        }

        if ((envelope.Flags & EnvelopeFlags.Draining) != EnvelopeFlags.None
            || envelope is { Kind: EnvelopeKind.Refused, Code: RefusalCode.Draining })
        {
            Note(link, _draining);
            if (envelope is { Kind: EnvelopeKind.Refused, Id: RequestEnvelope.AllIds })
            {
                link.HasEndedService = true;
                message.Dispose();
                return true;
            }
        }

        if (envelope.Kind == EnvelopeKind.Plain && message.PartCount > 1)
        {
            unasked = new GatewayMessage(link.Receiver, message, skip: 1);
            return false;
        }

        RequestOutcome outcome = envelope.Kind switch
        {
            EnvelopeKind.Request or EnvelopeKind.Reply => new RequestOutcome(RequestOutcomeKind.Replied, message),
            EnvelopeKind.Failed => new RequestOutcome(RequestOutcomeKind.Failed, Code: envelope.Code, Text: TextOf(message)),
            EnvelopeKind.Refused => new RequestOutcome(RequestOutcomeKind.Refused, Code: envelope.Code, Text: TextOf(message)),
            _ => default,
        };
        bool isTaken = outcome.Kind != RequestOutcomeKind.None && requests.OnReply(envelope.Id, link, outcome);
        if (isTaken)
        {
            link.CountAnswered();
        }
        else
        {
            Interlocked.Increment(ref requests.Counters.UnmatchedReplies);
        }

        if (!isTaken || outcome.Kind != RequestOutcomeKind.Replied)
        {
            message.Dispose();
        }

        return true;
    }

    /// <summary>What is noted is logged, too, and a logger that throws must not cost the reply that comes with it.</summary>
    private void Note(ReceiverLink link, Action<ReceiverLink> note)
    {
        try
        {
            note(link);
        }
        catch (Exception e)
        {
            ServicesLog.TryTurnFailed(logger, e, "reply");
        }
    }

    private static string TextOf(in Message message) => message.PartCount > 1 ? message.GetString(1) : "";
}
