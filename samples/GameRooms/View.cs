using System.Collections.Concurrent;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using Net.Zlink;
using Net.Zlink.Monitoring;
using Net.Zlink.Services;
using Samples.WebSocketChat;

namespace Samples.GameRooms;

/// <summary>One picture of the game for the page, ten times a second; or, with a text, a line of the chat.</summary>
internal sealed record Picture(float[]? Bots, int Nodes, double Rate, int P50, int P99, long Slow, long Dropped, string? Text = null);

/// <summary>Writes <see cref="Picture"/> without reflection.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(Picture))]
internal sealed partial class PictureJson : JsonSerializerContext;

/// <summary>Shows the whole game to browsers: subscribes everything, and sends pictures by a STREAM socket on the page's port.</summary>
internal sealed class View : StreamHandler, IAsyncDisposable
{
    private const int LongestLine = 500;
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Fresh = TimeSpan.FromSeconds(1);

    private readonly GameNode _game;
    private readonly StreamSocket _stream;
    private readonly ConcurrentDictionary<uint, StreamPeer> _tabs = new();
    private readonly ConcurrentDictionary<int, Position> _positions = new();
    private readonly List<IAsyncDisposable> _handlers = [];
    private readonly CancellationTokenSource _stop = new();
    private PageServer? _page;
    private long _seen;

    private View(GameNode game)
    {
        _game = game;
        _stream = game.Context.CreateStream(new StreamOptions { MaxMessageSize = 8 * 1024, SendHighWaterMark = 100 });
        SpotSubscriber zones = game.Node.CreateSubscriber();
        zones.SubscribePrefix("zone:");
        _handlers.Add(zones.OnMessage((message, _) =>
        {
            Position position = Position.Read(message.Span);
            _positions[position.Bot] = position;
            Interlocked.Increment(ref _seen);
            return ValueTask.CompletedTask;
        }));
        SpotSubscriber rooms = game.Node.CreateSubscriber();
        rooms.SubscribePrefix("room:");
        _handlers.Add(rooms.OnMessage((message, _) =>
        {
            Send(new Picture(null, 0, 0, 0, 0, 0, 0, $"{message.Topic}  {message.GetString()}"));
            return ValueTask.CompletedTask;
        }));
    }

    /// <summary>What to type into a browser.</summary>
    public string Address => _page!.Address;

    public static async Task<View> StartAsync(GameNode game, int port)
    {
        var view = new View(game);
        try
        {
            view._page = await PageServer.StartAsync(port, view._stream, view).ConfigureAwait(false);
        }
        catch (IOException)
        {
            await view.DisposeAsync().ConfigureAwait(false);
            throw;
        }

        _ = view.DrawAsync();
        return view;
    }

    public override void OnConnected(StreamPeer peer) => _tabs[peer.Id] = peer;

    /// <summary>A frame is what somebody says in room 1.</summary>
    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> frame in frames)
        {
            if (frame.Length is 0 or > LongestLine)
            {
                peer.Disconnect(); // Not our page.
                break;
            }

            _game.Node.TryPublish("room:1", Encoding.UTF8.GetBytes(Encoding.UTF8.GetString(frame.Span)));
        }

        return ValueTask.CompletedTask;
    }

    public override void OnDisconnected(StreamPeer peer, DisconnectReason reason) => _tabs.TryRemove(peer.Id, out _);

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        foreach (IAsyncDisposable handler in _handlers)
        {
            await handler.DisposeAsync().ConfigureAwait(false);
        }

        _stream.Dispose();
        if (_page is not null)
        {
            await _page.DisposeAsync().ConfigureAwait(false);
        }

        _stop.Dispose();
    }

    private async Task DrawAsync()
    {
        using var timer = new PeriodicTimer(Interval);
        var rates = new Queue<long>();
        while (await timer.WaitForNextTickAsync(_stop.Token).ConfigureAwait(false))
        {
            rates.Enqueue(Interlocked.Read(ref _seen));
            long before = rates.Count > 10 ? rates.Dequeue() : rates.Peek();
            double seconds = Interval.TotalSeconds * Math.Max(1, rates.Count - 1);
            float[] bots = [.. _positions.Values.Where(static position => position.Age < Fresh)
                .SelectMany(static position => new[] { position.Bot, position.X, position.Y })];
            (int p50, int p99) = _game.Sightings.Ages();
            Send(new Picture(bots, _game.Nodes.Length, (Interlocked.Read(ref _seen) - before) / seconds, p50, p99,
                _game.Slow.GetStatistics().Dropped, _game.Bots.Sum(static bot => bot.Statistics.Dropped)));
        }
    }

    private void Send(Picture picture)
    {
        byte[] bytes = JsonSerializer.SerializeToUtf8Bytes(picture, PictureJson.Default.Picture);
        foreach (StreamPeer tab in _tabs.Values)
        {
            tab.TrySend(bytes); // A tab that does not read misses pictures; nobody waits for it.
        }
    }
}
