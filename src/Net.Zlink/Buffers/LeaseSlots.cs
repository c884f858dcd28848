using System.Runtime.CompilerServices;

namespace Net.Zlink.Buffers;

internal static class LeaseSlots
{
    private const int ThreadCapacity = 32;
    private const int Batch = ThreadCapacity / 2;

    private const int SharedLimit = 4_096;

    private static readonly SharedStore<LeaseSlot> Shared = new(SharedLimit);

    // Empty from the count on: otherwise a lost lease's slot would keep its buffer and pool alive.
    [ThreadStatic]
    private static Slot<LeaseSlot>[]? t_items;

    [ThreadStatic]
    private static int t_count;

    internal static LeaseSlot Rent()
    {
        Slot<LeaseSlot>[]? items = t_items;
        int top = t_count - 1;
        if (items is not null && (uint)top < (uint)items.Length)
        {
            LeaseSlot slot = items[top].Item!;
            items[top].Item = null;
            t_count = top;
            return slot;
        }

        return Refill();
    }

    internal static void Return(LeaseSlot slot)
    {
        Slot<LeaseSlot>[]? items = t_items;
        int count = t_count;
        if (items is not null && (uint)count < (uint)items.Length)
        {
            items[count].Item = slot;
            t_count = count + 1;
            return;
        }

        Spill(slot);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static LeaseSlot Refill()
    {
        Slot<LeaseSlot>[] items = t_items ??= new Slot<LeaseSlot>[ThreadCapacity];
        int taken = Shared.Pop(Environment.CurrentManagedThreadId, items.AsSpan(0, Batch));
        if (taken == 0)
        {
            return new LeaseSlot();
        }

        int top = taken - 1;
        LeaseSlot slot = items[top].Item!;
        items[top].Item = null;
        t_count = top;
        return slot;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Spill(LeaseSlot slot)
    {
        Slot<LeaseSlot>[] items = t_items ??= new Slot<LeaseSlot>[ThreadCapacity];
        if (t_count == items.Length)
        {
            // What exceeds the store's limit is garbage.
            Shared.Push(Environment.CurrentManagedThreadId, items.AsSpan(0, Batch));
            items.AsSpan(Batch).CopyTo(items);
            items.AsSpan(ThreadCapacity - Batch).Clear();
            t_count = ThreadCapacity - Batch;
        }

        items[t_count++].Item = slot;
    }
}
