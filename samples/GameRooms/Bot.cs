using Net.Zlink.Services;

namespace Samples.GameRooms;

/// <summary>One bot: publishes where it is on the topic of its zone, and hears of everyone in that zone and its neighbours.</summary>
internal sealed class Bot : IAsyncDisposable
{
    private const float StepLength = 0.12f;

    private readonly SpotNode _node;
    private readonly SpotSubscriber _subscriber;
    private readonly IAsyncDisposable _handler;
    private readonly int _id;
    private readonly byte[] _message = new byte[Position.Size];
    private (int X, int Y) _zone;
    private float _x;
    private float _y;
    private float _direction;
    private int _number;

    public Bot(SpotNode node, int id, (float X, float Y) place, Action<Bot, Position> onSeen)
    {
        _node = node;
        _id = id;
        (_x, _y) = place;
        _zone = ((int)_x, (int)_y);
        _direction = id;
        _subscriber = node.CreateSubscriber();
        foreach ((int x, int y) in Field.Around(_zone.X, _zone.Y))
        {
            _subscriber.Subscribe(Field.TopicOf(x, y));
        }

        _handler = _subscriber.OnMessage((message, _) =>
        {
            onSeen(this, Position.Read(message.Span));
            return ValueTask.CompletedTask;
        });
    }

    public int Id => _id;

    public SpotSubscriberStatistics Statistics => _subscriber.GetStatistics();

    /// <summary>Says where it is.</summary>
    public bool Publish()
    {
        Position.Now(_id, ++_number, _x, _y).Write(_message);
        return _node.TryPublish(Field.TopicOf(_zone.X, _zone.Y), _message);
    }

    /// <summary>Walks on inside the columns of its node; in a new zone it subscribes the topics that have become near.</summary>
    public void Walk(int firstColumn, int endColumn)
    {
        (float x, float y) = (_x + (MathF.Cos(_direction) * StepLength), _y + (MathF.Sin(_direction) * StepLength));
        if (x < firstColumn || x >= endColumn || y < 0 || y >= Field.Size)
        {
            _direction += 2.1f; // Against the border: another way.
            return;
        }

        _direction += ((_id + _number) % 7 - 3) * 0.05f;
        (_x, _y) = (x, y);
        (int X, int Y) zone = ((int)x, (int)y);
        if (zone == _zone)
        {
            return;
        }

        (int X, int Y)[] before = [.. Field.Around(_zone.X, _zone.Y)];
        (int X, int Y)[] after = [.. Field.Around(zone.X, zone.Y)];
        foreach ((int newX, int newY) in after.Except(before))
        {
            _subscriber.Subscribe(Field.TopicOf(newX, newY));
        }

        foreach ((int oldX, int oldY) in before.Except(after))
        {
            _subscriber.Unsubscribe(Field.TopicOf(oldX, oldY));
        }

        _zone = zone;
    }

    public async ValueTask DisposeAsync()
    {
        await _handler.DisposeAsync().ConfigureAwait(false);
        _subscriber.Dispose();
    }
}
