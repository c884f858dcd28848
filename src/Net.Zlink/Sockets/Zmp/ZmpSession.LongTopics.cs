using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Sockets.Zmp;

/// <content>
/// A topic over the publisher's MaxMessageSize is refused alone. The end of the connection would cost the subscriber all its other topics,
/// and it would send the same again on the next one.
/// </content>
internal sealed partial class ZmpSession
{
    private uint _skipped;

    private void RefuseTopic(ZmpFlags flags, uint length)
    {
        _skipped = length;
        if (flags == ZmpFlags.Subscribe)
        {
            _socket.Events.TopicRefused(this, length, _settings.MaxMessageSize);
        }
    }

    private void Skip(ref int position, int end)
    {
        uint here = Math.Min(_skipped, (uint)(end - position));
        _skipped -= here;
        position += (int)here;
    }
}
