"""The order of an image's numbers in memory, which decides how long a network takes."""


def channels_together(images):
    """The same images (n, channels, height, width), the channels of a pixel side by side in memory.

    On a CPU, a training step of a small convolutional network then takes about two thirds of the
    time. Images of one channel are copied too: `contiguous` would return them as they are, and the
    convolution's gradients are fast only where the strides say so.
    """
    import torch

    return images.clone(memory_format=torch.channels_last)
