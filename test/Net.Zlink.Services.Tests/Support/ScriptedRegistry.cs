using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Services.Tests;

/// <summary>A registry that does what a test tells it: answers requests as the test's function says, notes them as text, and publishes the
/// lists that it is given.</summary>
internal sealed class ScriptedRegistry : IDisposable
{
    private readonly RouterSocket _router;
    private readonly XPubSocket _publisher;

    /// <param name="context">Makes the sockets.</param>
    /// <param name="answer">Status and text for a request; null: no answer. Called in the order of arrival.</param>
    /// <param name="routerEndpoint">Where receivers connect.</param>
    /// <param name="publisherEndpoint">Where discoveries connect.</param>
    public ScriptedRegistry(ZlinkContext context, Func<string, (byte Status, string Text)?>? answer = null,
        string routerEndpoint = "tcp://127.0.0.1:*", string publisherEndpoint = "tcp://127.0.0.1:*")
    {
        _router = context.CreateRouter(new RouterOptions { OnDuplicateRoutingId = DuplicateRoutingId.Share, Linger = TimeSpan.Zero });
        RouterEndpoint = _router.Bind(routerEndpoint);
        _publisher = context.CreateXPub(new XPubOptions { Notices = SubscriptionNotices.AllSubscriptions, Linger = TimeSpan.Zero });
        PublisherEndpoint = _publisher.Bind(publisherEndpoint);
        _ = AnswerAsync(answer ?? (static _ => (AckStatus.Done, "")));
    }

    /// <summary>Its answers say that a repeated REGISTER costs it no list, as those of this library do. Native ones never do.</summary>
    public bool HasMark { get; init; }

    public string RouterEndpoint { get; }

    public string PublisherEndpoint { get; }

    /// <summary>Like "REGISTER echo tcp://127.0.0.1:5 3", in the order of arrival.</summary>
    public ConcurrentQueue<string> Requests { get; } = new();

    /// <summary>The routing ids that the requests came with.</summary>
    public ConcurrentQueue<RoutingId> Senders { get; } = new();

    public int Subscribers => _publisher.PeerCount;

    public Task WaitForAsync(string request, int count = 1) =>
        Guard.UntilAsync(() => Requests.Count(seen => string.Equals(seen, request, StringComparison.Ordinal)) >= count,
        $"{count} times {request} among {string.Join(", ", Requests)}");

    public async Task WaitForSubscribersAsync(int count = 1)
    {
        for (int i = 0; i < count; i++)
        {
            using Message notice = await _publisher.ReceiveAsync(Guard.Token).Guarded();
        }
    }

    /// <summary>How often lists were asked for since the last look: subscriptions.</summary>
    public int TakeNotices()
    {
        int count = 0;
        while (_publisher.TryReceive(out Message notice))
        {
            count += notice.Span is [1, ..] ? 1 : 0; // The end of a connection is a notice, too.
            notice.Dispose();
        }

        return count;
    }

    /// <param name="id">Of the registry.</param>
    /// <param name="sequence">Of the list.</param>
    /// <param name="instances">Service, endpoint and weight of each; in the order of services.</param>
    public void Publish(uint id, ulong sequence, params ReadOnlySpan<(string Service, string Endpoint, int Weight)> instances) =>
        Publish(MessageIds.ServiceList, id, sequence, ServiceKind.Receiver, instances);

    public void Publish(ushort messageId, uint id, ulong sequence, ServiceKind kind,
        params ReadOnlySpan<(string Service, string Endpoint, int Weight)> instances)
    {
        using var message = new MessageBuilder();
        ListedService[] services = [.. instances.ToArray().GroupBy(static instance => instance.Service, StringComparer.Ordinal)
            .Select(service => new ListedService(
            new ServiceKey((ushort)kind, new ServiceText(service.Key)),
            [.. service.Select(static instance => new ListedInstance(
                new ServiceText(instance.Endpoint), RoutingId.FromText("id"), (uint)instance.Weight))]))];
        ServiceListWriter.Write(message, new ServiceListHeader(messageId, id, sequence, 0), services);
        _publisher.Send(message, Guard.Limit);
    }

    public void PublishRaw(params ReadOnlySpan<byte[]> frames)
    {
        using var message = new MessageBuilder();
        foreach (byte[] frame in frames)
        {
            message.Add(frame);
        }

        _publisher.Send(message, Guard.Limit);
    }

    public void Dispose()
    {
        _router.Dispose();
        _publisher.Dispose();
    }

    private async Task AnswerAsync(Func<string, (byte Status, string Text)?> answer)
    {
        await foreach (Message message in _router.ReceiveAllAsync())
        {
            using (message)
            {
                var frames = new Frames(message);
                frames.TryReadUInt16(0, out ushort id);
                string request = string.Create(CultureInfo.InvariantCulture,
                    $"{NameOf(id)} {Encoding.UTF8.GetString(frames[2])} "
                    + $"{Encoding.UTF8.GetString(frames[3])}{(frames.TryReadUInt32(4, out uint weight) ? $" {weight}" : "")}");
                Senders.Enqueue(((RoutingId)message.RoutingId).Copy());
                Requests.Enqueue(request);
                if (id is MessageIds.Register or MessageIds.UpdateWeight && answer(request) is { } ack)
                {
                    using var builder = new MessageBuilder();
                    RegistrationFrames.WriteAck(builder, ack.Status, frames[3], ack.Text);
                    if (HasMark)
                    {
                        builder.AddMark();
                    }

                    _router.To(message).TrySend(builder);
                }
            }
        }
    }

    private static string NameOf(ushort id) => id switch
    {
        MessageIds.Register => "REGISTER",
        MessageIds.Unregister => "UNREGISTER",
        MessageIds.Heartbeat => "HEARTBEAT",
        MessageIds.UpdateWeight => "UPDATE_WEIGHT",
        _ => $"{id}",
    };
}
