using System.Buffers;

namespace Net.Zlink.Sockets.Routing;

/// <summary>Walks back by parent links, so no depth needs a stack. The tree must not change meanwhile.</summary>
internal ref struct OrderedPrefixes<TValue>
{
    private readonly long _mark;
    private readonly PrefixNode<TValue> _root;
    private PrefixNode<TValue>? _node;
    private bool _ended;
    private byte[] _prefix = [];
    private int _length;

    public OrderedPrefixes(PrefixNode<TValue> root, long mark)
    {
        _root = root;
        _mark = mark;
    }

    public readonly ReadOnlySpan<byte> Current => _prefix.AsSpan(0, _length);

    public readonly PrefixNode<TValue> Node => _node!;

    public readonly OrderedPrefixes<TValue> GetEnumerator() => this;

    public bool MoveNext()
    {
        if (_node is null)
        {
            _node = _root;
            if (IsSelected(_root))
            {
                return true;
            }
        }

        while (!_ended)
        {
            PrefixNode<TValue>? next = NextOnTheWay(_node, -1);
            while (next is null && _node.Parent is { } parent)
            {
                _length -= _node.LabelLength;
                next = NextOnTheWay(parent, _node.Key);
                _node = parent;
            }

            if (next is null)
            {
                _ended = true;
                return false;
            }

            Append(next);
            _node = next;
            if (IsSelected(next))
            {
                return true;
            }
        }

        return false;
    }

    public void Dispose()
    {
        if (_prefix.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(_prefix);
            _prefix = [];
            _length = 0;
        }
    }

    private readonly bool IsSelected(PrefixNode<TValue> node) => _mark == 0 ? node.HasValue : node.Marked == _mark + 1;

    private readonly PrefixNode<TValue>? NextOnTheWay(PrefixNode<TValue> node, int key)
    {
        PrefixNode<TValue>? child = node.Children.After(key);
        while (child is not null && child.Marked < _mark)
        {
            child = node.Children.After(child.Key);
        }

        return child;
    }

    private void Append(PrefixNode<TValue> node)
    {
        int length = _length + node.LabelLength;
        if (length > _prefix.Length)
        {
            byte[] larger = ArrayPool<byte>.Shared.Rent(length);
            Current.CopyTo(larger);
            if (_prefix.Length > 0)
            {
                ArrayPool<byte>.Shared.Return(_prefix);
            }

            _prefix = larger;
        }

        _prefix[_length] = node.Key;
        node.Remainder.CopyTo(_prefix.AsSpan(_length + 1));
        _length = length;
    }
}
